/* All words of the report, Chinese and English side by side. {1}, {2}... are filled in by sr_rep_say.
 *
 * The words for "consistent" stand in T_P3_CONSISTENT only: they may not appear for a pass with uncompared layers. */
#include "text.h"

#include <string.h>

/* clang-format off */
static const char *const text[T_COUNT][2] = {
    [T_TITLE] = {"Spike 根因定位报告", "Spike root-cause report"},
    [T_SUMMARY] = {"结论", "Summary"},
    [T_PROBLEM] = {"问题", "Problem"},
    [T_EVIDENCE] = {"证据", "Evidence"},
    [T_IMPACT] = {"影响", "Impact"},
    [T_ADVICE] = {"建议", "Advice"},
    [T_MISSING] = {"缺失", "Missing"},
    [T_NOTHING] = {"无。", "None."},
    [T_COLON] = {"：", ": "},
    [T_COLON_END] = {"：", ":"},
    [T_AND] = {"、", ", "},
    [T_THEN] = {"；", "; "},
    [T_COORDINATE] = {"opt_step {1}，rank {2}，参数 {3}", "optimizer step {1}, rank {2}, parameter {3}"},
    [T_COORDINATE_MICRO] = {"opt_step {1}，rank {2}，ms {3}，参数 {4}",
                            "optimizer step {1}, rank {2}, micro step {3}, parameter {4}"},
    [T_WARNING] = {"{1} 处：{2}", "{1} x: {2}"},
    [T_WARNING_AT] = {"{1} 处：{2}；首处 {3}", "{1} x: {2}; the first: {3}"},
    [T_SEE_JSON] = {"另有一条说明，见 {1} 的 {2}", "one more remark, see {2} in {1}"},
    [T_MISMATCH] = {"注意：p1.json 与 p2.json 的候选不同，两者可能来自不同的数据。",
                    "Beware: p1.json and p2.json list different candidates; they may be from different data."},

    /* only a part was read */
    [T_PART_CLEAN] = {"在所读取的部分（{1}）中未发现异常梯度，其余部分未知。",
                      "No abnormal gradient was found in the part that was read ({1}); the rest is not known."},
    [T_PART_NO_ROOT] = {"Phase 1 在所读取的部分（{1}）中未发现异常梯度，其余部分未知，没有可定的根因。",
                        "Phase 1 found no abnormal gradient in the part that was read ({1}), and the rest is not known: there is "
                        "no root cause to name."},
    [T_PART_ALSO] = {"{1}只读取了一部分（{2}），其余部分未知。", "{1} Only a part was read ({2}); the rest is not known."},
    [T_PART_IMPACT] = {"未知：只读取了一部分（{1}）。", "Not known: only a part was read ({1})."},
    [T_PART_ONLY_ONE] = {"所读取的部分（{1}）中仅此一处候选。", "This is the only candidate in the part that was read ({1})."},
    [T_PART_WIDEN] = {"放宽或去掉 {1}，再次运行 `spikeroot phase1`。", "widen or leave out {1} and run `spikeroot phase1` again."},
    [T_PART_CHECK] = {"放宽或去掉 {3}，再次运行 `spikeroot phase1`。若训练中确有 spike，也请核对指标：本次分析 {1}，数据中有 {2}。",
                      "widen or leave out {3} and run `spikeroot phase1` again. If the run did spike, check the metric too: {1} was "
                      "analysed, the data holds {2}."},
    [T_PART_UNKNOWN] = {"只读取了一部分（{1}）：其余部分是否有异常梯度未知",
                        "only a part was read ({1}): whether the rest holds an abnormal gradient is not known"},
    [T_PART_EARLIER] = {"只读取了一部分（{1}）：不能排除其余部分中有更早的起点",
                        "only a part was read ({1}): an earlier origin in the rest is not excluded"},
    [T_PART_LATER] = {"只读取了一部分（{1}）：其后的部分未读取", "only a part was read ({1}): what came later was not looked at"},

    [T_COL_ITEM] = {"项目", "Item"},
    [T_COL_VALUE] = {"值", "Value"},
    [T_COL_DATA] = {"数据", "Data"},
    [T_COL_COUNT] = {"参数", "Parameters"},
    [T_COL_STEPS] = {"Step/Rank", "Step/Rank"},
    [T_COL_SELECTION] = {"只读取了一部分", "Only a part was read"},
    [T_COL_UNIT] = {"前反向单位", "Forward/backward unit"},
    [T_COL_OPT_STEP] = {"Opt Step", "Opt step"},
    [T_COL_RANK] = {"Rank", "Rank"},
    [T_COL_TARGET] = {"参数", "Parameter"},
    [T_COL_MICRO] = {"ms", "ms"},
    [T_COL_DELTA] = {"delta", "delta"},
    [T_COL_DEVIATION] = {"偏离", "Deviation"},
    [T_COL_FINAL] = {"最终 Norm", "Final norm"},
    [T_COL_TRANSITION] = {"转折", "Transition"},
    [T_COL_GROWTH] = {"增长阈值", "Growth threshold"},
    [T_COL_GROWN] = {"达标 rank", "Ranks that grew"},
    [T_COL_VERDICT] = {"判定", "Verdict"},
    [T_COL_BENCHMARK] = {"标杆 delta", "Benchmark delta"},
    [T_COL_RATIO] = {"比值", "Ratio"},
    [T_COL_F_ABNORMAL] = {"F异常", "F abnormality"},
    [T_COL_B_ABNORMAL] = {"B异常", "B abnormality"},
    [T_COL_DIRECTION] = {"方向", "Direction"},
    [T_COL_START] = {"起点", "Start"},
    [T_COL_PEAK] = {"最大点", "Peak"},
    [T_COL_EVIDENCE] = {"证据", "Evidence"},

    /* phase 1 */
    [T_P1_HEAD] = {"Phase 1：候选根因", "Phase 1: candidates"},
    [T_P1_TABLE1] = {"表 1：数据总览", "Table 1: the data"},
    [T_P1_TABLE2] = {"表 2：候选根因坐标（按时间最早排序）", "Table 2: candidate coordinates, earliest first"},
    [T_P1_RANGE] = {"{1}-{2} / {3}", "{1}-{2} / {3}"},
    [T_P1_ONLY_RANKS] = {"rank {1}", "ranks {1}"},
    [T_P1_ONLY_STEPS] = {"step {1}", "steps {1}"},
    [T_P1_ONLY_TARGETS] = {"参数 {1}", "parameters {1}"},
    [T_P1_LEFT_OUT] = {"{1}（未读取 {2} 个）", "{1} (left out: {2})"},
    [T_P1_ONE_STEP] = {"{1} / {2}", "{1} / {2}"},
    [T_P1_TOP] = {"norm 最大的坐标：{1}；{2}。", "The coordinate with the largest norm: {1}; {2}."},
    [T_P1_PLOT] = {"首个异常附近各 rank 的梯度 norm", "gradient norms of the ranks around the first anomaly"},
    [T_TREND] = {"趋势", "Trend"},
    [T_TREND_KEY] = {"norm 由小到大为 ▁ 到 █；× 为 NaN，∞ 为无穷，· 为未记录，方括号内为该候选。",
                     "Norms from ▁ to █; × is NaN, ∞ infinite, · not recorded; the candidate is in brackets."},
    [T_TREND_LINE] = {"opt_step {1}  rank {2}  {4}  {5}", "opt step {1}  rank {2}  {4}  {5}"},
    [T_TREND_LINE_MICRO] = {"opt_step {1}  rank {2}  ms {3}  {4}  {5}", "opt step {1}  rank {2}  ms {3}  {4}  {5}"},
    [T_P1_FIRST] = {"最早的异常坐标：{1}；{2}。", "The earliest abnormal coordinate: {1}; {2}."},
    [T_P1_DEVIATION] = {"偏离基线 {1}", "{1} its baseline"},
    [T_P1_NONFINITE] = {"norm 为 {1}", "its norm is {1}"},
    [T_P1_RANKED] = {"norm {1}；单个 dump 没有历史，只是按 norm 排序，不能证明异常",
                     "norm {1}; one dump has no past: this is a ranking by norm, no proof that it is abnormal"},
    [T_P1_NORM] = {"norm {1}", "norm {1}"},
    [T_P1_CLEAN] = {"未发现异常梯度。", "No abnormal gradient was found."},
    [T_P1_NUMBERS] = {"norm {1}，基线中位数 {2}，偏离 {3}，触发规则 {4}", "norm {1}, baseline median {2}, deviation {3}, trigger {4}"},
    [T_P1_DURATION] = {"，持续 {1} 个点", ", lasts {1} points"},
    [T_P1_SERIES] = {"跨 step 趋势（自 step {1} 起）：{2}", "trend over steps (from step {1}): {2}"},
    [T_P1_SPAN] = {"候选共 {1} 个，位于 opt_step {2} 至 {3}", "candidates: {1}, in optimizer steps {2} to {3}"},
    [T_P1_SPAN_ONE] = {"候选共 {1} 个，位于 opt_step {2}", "candidates: {1}, in optimizer step {2}"},
    [T_P1_STEP_LEVEL] = {"step 级数据：每个 step 的梯度完整，共 {1} 个 opt_step",
                         "step-level data: each of {1} steps holds a complete gradient"},
    [T_P1_MICRO_NAMED] = {"micro_step 数据：每 {1} 个 ms 累积为一个 opt_step（数据源标注），共 {2} 个 opt_step",
                          "micro-step data: {1} micro steps add up to an optimizer step (named by the source); {2} optimizer steps"},
    [T_P1_MICRO_FOUND] = {"micro_step 数据：每 {1} 个 ms 累积为一个 opt_step（由各 rank 共有的 norm 重置判定），共 {2} 个 opt_step",
                          "micro-step data: {1} micro steps add up to an optimizer step (found from the reset that the ranks "
                          "share); {2} optimizer steps"},
    [T_P1_RESET] = {"短序列：窗口边界在 step {1}", "a short sequence: a window starts at step {1}"},
    [T_P1_DUMPS] = {"dump 数据：共 {1} 个 step", "dumps, number of steps: {1}"},
    [T_P1_ALSO] = {"同一梯度还出现在另外 {1} 处（共享权重或副本）", "other places with the same gradient (tied or replicated weights): {1}"},
    [T_P1_HITS] = {"此时该 rank 共有 {1} 个参数异常（全部 {2} 个）：它是反向顺序中的第一个，原因也可能在数据、loss 或前向",
                   "{1} of {2} parameters of this rank were hit at once: it is the first in backward order, the cause may also lie in "
                   "the data, the loss or the forward pass"},
    [T_P1_ONLY_ONE] = {"仅此一处候选。", "This is the only candidate."},
    [T_P1_ECHO] = {"其后还列出 {1} 个候选；更晚或更大的多为传导或放大，不是起点。",
                   "Candidates listed after it: {1}; what is later or larger is usually an echo, not the origin."},
    [T_P1_RANKING] = {"这些候选只是排序结果，需要其他 step 的 dump 或标杆来确认。",
                      "These are a ranking only; dumps of other steps, or a benchmark, must confirm them."},
    [T_P1_NEXT] = {"进入 Phase 2 选定根因坐标：`spikeroot phase2 --phase1 p1.json -o p2.json`",
                   "go on to phase 2, which chooses the root cause: `spikeroot phase2 --phase1 p1.json -o p2.json`"},
    [T_P1_NEXT_BELOW] = {"进入 Phase 2，见下文。", "go on to phase 2, below."},
    [T_P1_CHECK] = {"无需进入 Phase 2。若训练中确有 spike，请核对 step 范围与指标：本次分析 {1}，数据中有 {2}。",
                    "no phase 2 is needed. If the run did spike, check the range of steps and the metric: {1} was analysed, the "
                    "data holds {2}."},
    [T_P1_SKIPPED] = {"有 {1} 行无法读取，已跳过", "rows that could not be read and were skipped: {1}"},
    [T_P1_NO_MICRO] = {"step 级数据，ms 未知：按 micro batch 记录梯度后可定位到 ms",
                       "step-level data: the micro step is not known; record gradients per micro batch"},

    /* phase 2 */
    [T_P2_HEAD] = {"Phase 2：根因坐标选定", "Phase 2: the root-cause coordinate"},
    [T_P2_TABLE1] = {"表 1：跨 step 判定", "Table 1: growth between optimizer steps"},
    [T_P2_TABLE2] = {"表 2：候选根因坐标（按时间最早排序）", "Table 2: candidate coordinates, earliest first"},
    [T_P2_STEP_TO] = {"opt_step {1} → {2}", "optimizer step {1} → {2}"},
    [T_P2_ROOT_IN] = {"根因在 opt_step {1}", "root in optimizer step {1}"},
    [T_P2_GREW] = {"增长达标，不改变根因位置", "grew enough; does not move the root"},
    [T_P2_NO_TURN] = {"无明显转折", "no turning point"},
    [T_P2_FEW_RANKS] = {"可比 rank 不足，无法判定", "too few ranks to judge"},
    [T_P2_NOT_MICRO] = {"不适用：不是 micro_step 数据，或没有相邻 opt_step", "not applicable: no micro-step data, or no adjacent optimizer steps"},
    [T_P2_SHARED_TOO] = {"{1}（双端共有）", "{1} (shared by both sides)"},
    [T_P2_OMITTED] = {"另有 {1} 个转折没有任何 rank 达标，未列出。", "Transitions in which no rank grew enough, not listed: {1}."},
    [T_P2_SPECIFIC] = {"设备特异性", "device-specific"},
    [T_P2_SHARED] = {"双端共有", "shared by both sides"},
    [T_P2_NO_BENCHMARK] = {"无标杆", "no benchmark"},
    [T_P2_UNKNOWN] = {"标杆无值", "not known to the benchmark"},
    [T_P2_ROOT_MARK] = {"{1}（根因）", "{1} (root cause)"},
    [T_P2_NORM_NOTE] = {"delta 为 - 的行，标杆列与比值取自 norm。", "Where delta is -, the benchmark column and the ratio are of the norm."},
    [T_P2_ROOT] = {"根因坐标：{1}（norm {2}，delta {3}，偏离 {4}）。", "The root-cause coordinate: {1} (norm {2}, delta {3}, deviation {4})."},
    [T_P2_CLEAN] = {"Phase 1 未发现异常梯度，没有可定的根因。", "Phase 1 found no abnormal gradient: there is no root cause to name."},
    [T_P2_E_TURN] = {"跨 step 判定：opt_step {1} → {2}，{7} 在 {3}/{4} 个 rank（{5}）上增长达 {6}；根因在前一个 opt_step，其后是传导",
                     "growth: from optimizer step {1} to {2} the norm of {7} grew at least {6} on {3}/{4} ranks ({5}); the root is "
                     "in the earlier step, what follows is propagation"},
    [T_P2_E_SHARED] = {"标杆侧同一转折也有增长（双端共有），不改变根因位置", "the benchmark grows there too (shared by both sides); that does not move the root"},
    [T_P2_E_NO_TURN] = {"跨 step 判定：没有改变根因位置的转折", "growth: no turning point moves the root"},
    [T_P2_E_NOT_MICRO] = {"跨 step 判定：不适用", "growth between optimizer steps: not applicable"},
    [T_P2_BEYOND_DOUBT] = {"选定理由：最早的确定异常（非有限值、饱和，或偏离足够大），不是最大的",
                           "chosen because: the earliest candidate beyond doubt (not finite, saturated, or far enough out), not the largest"},
    [T_P2_FIRST_LISTED] = {"选定理由：没有候选的偏离大到可以确定，取最早者，需要确认",
                           "chosen because: no candidate is beyond doubt, so the earliest one, to be confirmed"},
    [T_P2_LARGEST_NORM] = {"选定理由：单个 dump 没有历史，取 norm 最大者；只是排查起点，不能证明异常",
                           "chosen because: one dump has no past, so the largest norm; a place to start from, no proof"},
    [T_P2_BY_USER] = {"选定理由：坐标由用户指定", "chosen because: the user named the coordinate"},
    [T_P2_PASSED_OVER] = {"更早的 opt_step 中有 {1} 个候选未达到确定程度，未采用",
                          "candidates of earlier optimizer steps that are not beyond doubt and were passed over: {1}"},
    [T_P2_SIDE_NONE] = {"跨设备验证：无标杆", "across devices: no benchmark"},
    [T_P2_SIDE_VALUE] = {"跨设备验证：{1}，标杆值 {2}，比值 {3}", "across devices: {1}, benchmark value {2}, ratio {3}"},
    [T_P2_SIDE_MISSING] = {"跨设备验证：{1}，没有标杆侧该位置的值", "across devices: {1}, no value of the benchmark at this place"},
    [T_P2_SIDE_NOTHING] = {"跨设备验证：该坐标不在候选中，没有可对照的值", "across devices: this coordinate is no candidate, nothing to compare"},
    [T_P2_ECHO] = {"同一 opt_step 另有 {1} 个候选，之后的 opt_step 有 {2} 个；更晚或更大的按传导处理。",
                   "Other candidates: {1} in this optimizer step, {2} in later ones; what is later or larger is taken for propagation."},
    [T_P2_NEXT] = {"[P0] 采集 step {1}、rank {2} 的 dump（异常侧与标杆侧），进入 Phase 3：`spikeroot phase3 --dump-a A --dump-b B "
                   "--phase2 p2.json -o p3.json`",
                   "[P0] dump step {1}, rank {2} on the abnormal side and the benchmark, and go on to phase 3: `spikeroot phase3 "
                   "--dump-a A --dump-b B --phase2 p2.json -o p3.json`"},
    [T_P2_NEXT_BELOW] = {"[P0] 进入 Phase 3，见下文。", "[P0] go on to phase 3, below."},
    [T_P2_NOTHING_TO_DO] = {"无需进入 Phase 3。", "no phase 3 is needed."},

    /* phase 3 */
    [T_P3_HEAD] = {"Phase 3：激活过程差异追溯", "Phase 3: the earliest divergence"},
    [T_P3_GROUPS] = {"四组：A（异常）{1}，B（标杆）{2}，C（正常）{3}，D（标杆）{4}；异常度 = (A/B) / (C/D)。",
                     "Four groups: A (abnormal) {1}, B (benchmark) {2}, C (normal) {3}, D (benchmark) {4}; abnormality = (A/B) / (C/D)."},
    [T_P3_TABLE1] = {"表 1：四组对照逐层对比（主列 Norm）", "Table 1: the four groups layer by layer (Norm)"},
    [T_P3_ANCHOR] = {"锚点 {1}", "Anchor {1}"},
    [T_P3_TABLE2] = {"表 2：方向判定汇总", "Table 2: directions"},
    [T_P3_PLOT] = {"各层各指标的异常度", "abnormality by layer and metric"},
    [T_P3_NOTE] = {"附注 {1}：前向 {2}；反向 {3}", "Note on {1}: forward {2}; backward {3}"},
    [T_P3_STARTS] = {"各指标主分叉段起点（前向 / 反向）：{1}", "Start of each metric's main segment (forward / backward): {1}"},
    [T_P3_START_OF] = {"{1} {2} / {3}", "{1} {2} / {3}"},
    [T_P3_EARLIEST] = {"最早分叉点：前向 {1}；反向 {2}", "Earliest divergence: forward {1}; backward {2}"},
    [T_P3_UNCOMPARED] = {"未对齐层 `uncompared_layers`：前向 {1}；反向 {2}", "Layers not compared (`uncompared_layers`): forward {1}; backward {2}"},
    [T_P3_FWD] = {"前向", "forward"},
    [T_P3_BWD] = {"反向", "backward"},
    [T_P3_DIVERGED] = {"存在分叉", "diverged"},
    [T_P3_CONSISTENT] = {"一致", "consistent"},
    [T_P3_UNDETERMINED] = {"无法判定", "undetermined"},
    [T_P3_HAS_UNCOMPARED] = {"{1}（有未对齐层）", "{1} (some layers not compared)"},
    [T_P3_INCOMPLETE] = {"{1}（判定不完整）", "{1} (judgement incomplete)"},
    [T_P3_START_FWD] = {"{1}（浅→深第一个 F!）", "{1} (first F! from shallow to deep)"},
    [T_P3_START_BWD] = {"{1}（深→浅第一个 B!）", "{1} (first B! from deep to shallow)"},
    [T_P3_FIRST] = {"前向最先分叉于 {1}（指标 {2}）。", "The forward pass first diverges at {1} (by its {2})."},
    [T_P3_BWD_ALONE] = {"前向未见分叉；反向自身产生异常，最先分叉于 {1}（指标 {2}）。",
                        "The forward pass does not diverge; the backward pass does, first at {1} (by its {2})."},
    [T_P3_CLEAN] = {"四组之间没有分叉。", "There is no divergence between the four groups."},
    [T_P3_UNKNOWN] = {"数据不足，无法判定方向。", "The data is not enough to judge the direction."},
    [T_P3_UNKNOWN_BWD] = {"前向无法判定；反向自 {1} 起有分叉，可能来自前向。",
                          "The forward pass can't be judged; the backward pass diverges from {1} on, perhaps because of the forward pass."},
    [T_P3_PASS_STARTS] = {"{1}各指标主分叉段起点：{2}；最早分叉点：{3}", "{1}: main segments start at {2}; earliest divergence: {3}"},
    [T_P3_ROUND_FIRST] = {"{1} → {2}", "{1} → {2}"},
    [T_P3_ROUND] = {"{1}：{2} → {3}", "{1}: {2} → {3}"},
    [T_P3_CONVERGED] = {"多指标往前再探 {1} 轮（{2}），收敛于 {3}", "cross-check over the metrics, rounds: {1} ({2}); converged at {3}"},
    [T_P3_DISAGREE] = {"各指标分歧：{1}", "metrics that disagree: {1}"},
    [T_P3_NOT_NORMAL] = {"未对齐不等于正常：该方向是否正常不可下结论", "not compared is not normal: whether that pass is normal can't be said"},
    [T_P3_CONTROL_GIVEN] = {"对照组（用户给定）：C/D 中位数 {1}", "control group (given): median C/D {1}"},
    [T_P3_CONTROL_AUTO] = {"对照组（从 {2} 个相邻 dump 中自动选取）：C/D 中位数 {1}", "control group (chosen among {2} neighbours): median C/D {1}"},
    [T_P3_CONTROL_NONE] = {"无对照组，A/B 比值可能混入设备系统偏差", "no control group: the ratio A/B may contain the device's own bias"},
    [T_P3_CONTROL_DOUBT] = {"C/D 明显偏离 1，先确认数据再采信", "C/D is far from 1: confirm the data first"},
    [T_P3_LAST_CLEAN] = {"最后一个未分叉的算子：{1}", "last operator that does not diverge: {1}"},
    [T_P3_ORIGIN] = {"起点算子（{1}，调用 {2}）：{3}；{4}", "origin ({1}, call {2}): {3}; {4}"},
    [T_P3_LARGEST] = {"该层内差异最大：{1} {2}，{3} 异常度 {4}", "largest in that layer: {1} {2}, {3} abnormality {4}"},
    [T_P3_CODE] = {"代码位置：{1}", "in the code: {1}"},
    [T_P3_FEATURE] = {"数据特征 {1}（{2}）：{3}，{4} 对 {5}", "data shape {1} ({2}): {3}, {4} and {5}"},
    [T_P3_SAME] = {"相同", "the same"},
    [T_P3_BENCHMARK_TOO] = {"标杆侧同样不同，差异在数据", "differs on the benchmark too: it is in the data"},
    [T_P3_DIFFERS] = {"不同", "differs"},
    [T_P3_NOT_KNOWN] = {"待验证", "to be verified"},
    [T_P3_IMPACT] = {"标注分叉的层：前向 {1} 个，反向 {2} 个；起点之后的是传导。",
                     "Flagged layers: forward {1}, backward {2}; what follows the first one is propagation."},
    [T_P3_TRACE] = {"[P0] 追溯{1}分叉点：{2}", "[P0] trace the {1} pass: {2}"},
    [T_P3_DUMP_TENSORS] = {"在两侧采集该算子与最后一个未分叉算子的张量，逐元素对比",
                           "dump the tensors of this operator and of the last one that does not diverge on both sides, and compare them"},
    [T_P3_FWD_FIRST] = {"先让前向可比：它可能才是源头", "make the forward pass comparable first: it may be the source"},
    [T_P3_SUPPLY] = {"[P0] 补齐缺失的数据后重新对比", "[P0] supply what is missing and compare again"},
    [T_P3_CHECK_PLACE] = {"核对 step 与 rank 是否为根因坐标，或采集更早一个 step 的 dump",
                          "check that the step and rank are those of the root cause, or dump one step earlier"},
    [T_P3_INCOMPLETE_LABEL] = {"判定不完整：两侧可对齐的锚点不足三个。", "The judgement is incomplete: fewer than three anchors align on both sides."},

    /* pictures */
    [T_PLOT_NORMS] = {"首个异常附近的梯度 norm", "Gradient norm around the first anomaly"},
    [T_PLOT_RANK] = {"rank {1}", "rank {1}"},
    [T_PLOT_OTHERS] = {"其他 rank（{1}）", "other ranks ({1})"},
    [T_PLOT_FIRST] = {"首个异常：rank {1}，step {2}", "first anomaly: rank {1}, step {2}"},
    [T_PLOT_FIRST_MICRO] = {"首个异常：rank {1}，step {2}，ms {3}", "first anomaly: rank {1}, step {2}, micro step {3}"},
    [T_PLOT_FINALS] = {"同一参数在各 opt_step 结束时的 norm", "Norm of the same parameter at the end of the optimizer steps"},
    [T_PLOT_STEP] = {"step {1}", "step {1}"},
    [T_PLOT_OPT_STEP] = {"opt_step {1}", "optimizer step {1}"},
    [T_PLOT_LAYERS] = {"异常度 (A/B)/(C/D)：各锚点中偏离最大者", "Abnormality (A/B)/(C/D): the widest among the anchors"},
    [T_PLOT_FWD] = {"前向（执行顺序从左到右）", "Forward (runs from left to right)"},
    [T_PLOT_BWD] = {"反向（执行顺序从右到左）", "Backward (runs from right to left)"},
    [T_PLOT_START] = {"起点 {1}", "start {1}"},
    [T_PLOT_FLAGGED] = {"超过对照组阈值", "beyond the control group's threshold"},
    [T_PLOT_UNCOMPARED] = {"未对齐", "not compared"},
    [T_PLOT_DISTANCE] = {"与 1 的距离", "distance from 1"},
};

/* What the JSON says in English sentences, by the phrase they begin with; {1} is a number, {2} any text. */
static const char *const phrase[][2] = {
    /* missing in p2.json */
    {"no benchmark: run phase1", "无标杆：用 `--probe` 对标杆运行 `phase1`，再以 `--npu`、`--gpu` 给出两个文件，才能区分设备特异与双端共有"},
    {"the benchmark's p1.json has no probes", "标杆的 p1.json 没有 `probes`：只知道其自身异常处的值；请用 `phase1 --probe` 重新生成"},
    {"the benchmark has no value at the place of some", "标杆在部分候选处没有值：两侧的 step、rank、参数或 ms 不同；请记录相同的部分"},
    {"only a part of the run was read ({2}): whether", "只读取了一部分（{2}）：其余部分是否有异常梯度未知"},
    {"only a part of the run was read ({2}): an earlier origin", "只读取了一部分（{2}）：不能排除其余部分中有更早的起点"},
    {"only a part of the run was read ({2}): what came later", "只读取了一部分（{2}）：其后的部分未读取"},
    {"the benchmark was read in part ({2}): candidates outside it: {1}", "标杆只读取了一部分（{2}），有 {1} 个候选不在其中：请对标杆放宽相应选项，再次运行 `phase1`"},
    {"the benchmark was read in part ({2}): what lies outside", "标杆只读取了一部分（{2}），其余部分未知"},
    {"the two sides count optimizer steps from different places", "两侧 opt_step 的起点不同（其中一侧只读取了一部分，无法得知其真实编号）：请对两侧用相同的 `--steps`（或都不用）运行 `phase1`"},
    {"one rank only was read ({2})", "只读取了一个 rank（{2}）：无法区分全体共有与单 rank 特有；请放宽 `--ranks`"},
    {"one step of dumps only was read ({2})", "只读取了一个 step 的 dump（{2}），无从判断何为正常：请放宽 `--steps`，或补充标杆"},
    {"some transitions have fewer than three ranks that were read in both steps ({2})", "部分转折两侧都读取的 rank 不足三个（{2}），其增长无法判定；请放宽 `--ranks`"},
    {"one rank only: ", "只有一个 rank：无法区分全体共有与单 rank 特有"},
    {"the gradient was recorded after its reduction", "梯度在跨 rank 归约之后记录，来自哪个 rank 未知；请记录 `grad_unreduced`"},
    {"step-level data: the micro step is not known", "step 级数据，ms 未知：请按 micro batch 记录梯度"},
    {"one step of dumps only: ", "只有一个 step 的 dump，无从判断何为正常：请补充其他 step 的 dump 或标杆"},
    {"some transitions have fewer than three ranks that both", "部分转折两侧都有记录的 rank 不足三个，其增长无法判定"},
    {"no dump was read: phase3", "没有 dump：采集该坐标的 dump 后可由 `phase3` 定位到层与算子"},
    /* missing in p3.json */
    {"no control group (C, D)", "无对照组（C、D），A/B 比值可能混入设备系统偏差：请在两侧采集邻近正常 rank 或 step 的 dump"},
    {"no forward pass in the dumps", "dump 中没有前向"},
    {"no backward pass in the dumps", "dump 中没有反向"},
    {"forward: {1} layers with an anchor that could not be compared", "前向有 {1} 层的锚点无法对比（一侧缺失、两侧均非有限值或元素总数不同）"},
    {"backward: {1} layers with an anchor that could not be compared", "反向有 {1} 层的锚点无法对比（一侧缺失、两侧均非有限值或元素总数不同）"},
    {"{1} operator calls exist on one side only", "{1} 次算子调用只在一侧存在，未对比；名称不同的 module 可用 `--map` 指定对应"},
    {"{1} recomputed forward calls were kept apart", "{1} 次重计算的前向已分开处理"},
    {"fewer than three anchor modules align", "两侧可对齐的锚点不足三个，判定不完整；名称不同的 module 可用 `--map` 指定对应"},
    /* why an operator is the origin */
    {"its weight already differs", "其权重已经不同：分叉在本 step 之前就在模型里"},
    {"it receives a value that is not finite", "入口处已是非有限值，而此前 dump 的算子都没有产生：问题在最后一个未分叉的算子与它之间"},
    {"a value has already diverged on entry", "入口处已经分叉，而此前 dump 的算子都没有产生：问题在最后一个未分叉的算子与它之间"},
    {"the gradient of its weight diverges", "权重梯度分叉，而反向的输入与输出未分叉"},
    {"its inputs are finite and agree, its output is not finite", "输入有限且未分叉，输出为非有限值"},
    {"its inputs agree and its output diverges", "输入未分叉，输出分叉"},
};

/* Warnings, by code. */
static const char *const warning[][2] = {
    {"calls_joined", "同一 step 中同名的多次调用：取 `target_id` 最大者"},
    {"candidates_not_listed", "某些 opt_step 的候选超过 `--top`：列出最早与最大者"},
    {"construct_entry_skipped", "construct.json 中有条目没有上级，已跳过"},
    {"construct_missing", "没有可用的 construct.json：归属与执行顺序仅由 key 推断"},
    {"control_is_noisy", "C 与 D 相差太大，A 同样大的分叉会被当作噪声：C 自身可能已分叉，请更换对照组"},
    {"csv_dir_unreadable", "目录无法列出，未读取"},
    {"csv_file_empty", "CSV 文件为空"},
    {"csv_file_not_monitor", "不是 monitor 记录的 CSV 文件，已跳过"},
    {"csv_file_unreadable", "CSV 文件无法读取，已跳过"},
    {"csv_metric_assumed", "CSV 文件名未说明指标，按假定的指标处理"},
    {"csv_metric_unknown", "CSV 文件名未说明指标，已跳过"},
    {"csv_micro_step_mixed", "部分行没有 ms，按所在 step 的最后一个处理"},
    {"csv_no_header", "CSV 文件没有表头，已跳过"},
    {"csv_no_scope", "CSV 行没有所需的列，已跳过"},
    {"csv_norm_missing", "文件没有 norm 列，已跳过；请在 monitor 配置的 `ops` 中加入 norm"},
    {"csv_norm_not_collected", "整个文件的 norm 为 nan 而 nans 为零：msProbe 未采集，已跳过"},
    {"csv_not_a_file", "名为 .csv 的不是普通文件，已跳过"},
    {"csv_rank_assumed", "目录与文件名都没有 rank，按 rank 0 处理"},
    {"csv_rank_from_file_name", "目录没有 rank，取自文件名"},
    {"csv_row_columns", "行的列数与表头不同，已跳过"},
    {"csv_row_cut", "文件末尾的行被截断，已跳过"},
    {"csv_row_name", "行的 name 或 `vpp_stage` 无法读取，已跳过"},
    {"csv_row_not_a_number", "行中有不是数的值，已跳过"},
    {"csv_row_too_long", "行过长，已跳过"},
    {"csv_rows_superseded", "同一 step 记录了两次（续训），以后一次为准"},
    {"csv_run_order_assumed", "运行目录名没有年份，按十二月早于一月处理"},
    {"csv_runs_side_by_side", "同一 rank 的目录位于不同位置，按一次续训处理；若是不同的训练，请只指定其中一个"},
    {"csv_too_deep", "目录嵌套过深，已跳过"},
    {"dump_bad_statistic", "不是数的统计量按未记录处理"},
    {"dump_damaged", "dump.json 有损坏，只读取了完好的部分"},
    {"dump_dir_loop", "链接指向其上级目录，已跳过"},
    {"dump_dir_skipped", "不是 step 或 rank 的目录，已跳过"},
    {"dump_dir_unreadable", "目录无法列出，未读取"},
    {"dump_duplicate_key", "同一 key 在文件中出现两次，以后者为准"},
    {"dump_entry_skipped", "有条目无法读取，已跳过"},
    {"dump_missing", "目录中没有 dump.json，已跳过"},
    {"dump_nan_check", "dump 的 task 为 nan_check，没有可对比的统计量；请以 statistics 重新采集"},
    {"dump_nan_found", "dump 的 nan_check 发现了 NaN 或 Inf"},
    {"dump_no_statistics", "张量没有 Max、Min、Mean、Norm；请以 `summary_mode` statistics 重新采集"},
    {"dump_no_step", "上层没有 step 目录，step 按 0 处理"},
    {"dump_proc_as_rank", "proc 目录按编号顺序当作 rank"},
    {"dump_proc_skipped", "proc 目录已跳过"},
    {"dump_step_twice", "同一 step 与 rank 的 dump 出现两次，以后一个目录为准"},
    {"dump_too_deep", "目录嵌套过深，已跳过"},
    {"dump_truncated", "dump.json 被截断，只读取了完好的部分"},
    {"dump_unflushed", "张量的统计量没有写出（任务被终止）；请重新采集该 step"},
    {"dump_unusable", "有 dump 无法使用"},
    {"keys_scrambled", "dump.json 的 key 不按执行顺序：改用层号与常见 module 顺序"},
    {"micro_step_from_1", "数据源的 ms 从 1 计数，此处从 0 给出"},
    {"norm_skipped", "norm 不是数的行，已跳过"},
    {"pair_differs", "dump 与其标杆的 step 或 rank 不同：仅当两次训练计数方式不同时才正确"},
    {"rank_skipped", "rank 不合规的行，已跳过"},
    {"rows_superseded", "同一 rank、step、参数有多行，取 `target_id` 最大者"},
    {"same_dump", "dump 与自身对比，不会有分叉；请给出标杆的 dump"},
    {"selection_unmatched", "`--ranks` 或 `--targets` 中有的项在所读数据中没有匹配；请核对拼写"},
    {"start_not_judged", "序列开头的大值没有历史，可比 rank 也太少，未判定；请向前多记录一些 step 或更多 rank"},
    {"start_of_part_not_judged", "所读部分开头的大值没有历史，可比 rank 也太少，未判定；请放宽 `--steps` 或 `--ranks`"},
    {"optimizer_steps_of_part", "opt_step 从所读部分的第一个起计数：在整个训练中的编号不同"},
    {"step_is_a_counter", "数据源记录的是 ms 计数而非训练 step：opt_step 从首个记录起计数；用 `data2db --micro_step false` 可保留训练 step"},
    {"step_skipped", "step 不合规的行，已跳过"},
    {"target_skipped", "`id`、`name`、`vpp_stage` 或 `micro_step` 不合规的 target 连同其行已跳过"},
    {"target_unknown", "`target_id` 不在 `monitoring_targets` 中的行，已跳过"},
    {"window_length_changes", "部分 opt_step 的 ms 数不同（batch 调整或记录被截断），按各自长度判定"},
};
/* clang-format on */

const char *sr_rep_word(sr_lang lang, sr_text id) { return text[id][lang == SR_LANG_EN]; }

static const char *fill(sr_render *c, const char *t, const char *const *args, size_t n) {
    sr_str b = {0};
    for (const char *p = t; *p != '\0';) {
        size_t k = *p == '{' && p[1] >= '1' && p[1] <= '9' && p[2] == '}' ? (size_t)(p[1] - '1') : SIZE_MAX;
        if (k < n) {
            sr_str_add(&b, args[k]);
            p += 3;
        } else {
            sr_str_addc(&b, *p++);
        }
    }
    return sr_rep_keep(c, &b);
}

const char *sr_rep_say(sr_render *c, sr_text id, const char *const *args, size_t n) {
    return fill(c, sr_rep_word(c->lang, id), args, n);
}

/* Does `s` begin with the pattern?  The texts in the places of {1}, a number, and {2} go to args. */
static bool begins(sr_render *c, const char *s, const char *pattern, const char *args[2]) {
    while (*pattern != '\0') {
        size_t n;
        if (strncmp(pattern, "{1}", 3) == 0) {
            n = strspn(s, "0123456789");
        } else if (strncmp(pattern, "{2}", 3) == 0) {
            const char *behind = strstr(s, "): "); /* it stands in parentheses */
            n = behind != NULL ? (size_t)(behind - s) : 0;
        } else {
            if (*s++ != *pattern++) return false;
            continue;
        }
        if (n == 0) return false;
        sr_str part = {0};
        sr_str_addn(&part, s, n);
        args[pattern[1] - '1'] = sr_rep_keep(c, &part);
        s += n;
        pattern += 3;
    }
    return true;
}

const char *sr_rep_phrase(sr_render *c, const char *english) {
    if (c->lang == SR_LANG_EN) return sr_rep_plain(c, english);
    for (size_t i = 0; i < sizeof phrase / sizeof *phrase; i++) {
        const char *args[2] = {"", ""};
        if (!begins(c, english, phrase[i][0], args)) continue;
        args[1] = sr_rep_name(c, args[1]);
        return fill(c, phrase[i][1], args, 2);
    }
    return NULL;
}

const char *sr_rep_warning_text(sr_render *c, const sr_rep_warning *w) {
    if (c->lang == SR_LANG_EN) return sr_rep_plain(c, w->message);
    for (size_t i = 0; i < sizeof warning / sizeof *warning; i++)
        if (strcmp(w->code, warning[i][0]) == 0) return warning[i][1];
    return NULL;
}
