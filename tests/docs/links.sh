# Every relative link of the documents leads to a file that is there, and a heading that is meant is there too.
cd "$repo" || exit 1
for page in README.md docs/*.md; do
    grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//' | while read -r link; do
        case $link in http://* | https://*) continue ;; esac
        file=${link%%#*} anchor=${link#"${link%%#*}"}
        [ -z "$file" ] || [ -e "$(dirname "$page")/$file" ] || { echo "$page: $link: no such file"; continue; }
        target=$page
        [ -z "$file" ] || target=$(dirname "$page")/$file
        [ -z "$anchor" ] || sed -n 's/^##* //p' "$target" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n_-' | grep -qx "${anchor#\#}" ||
            echo "$page: $link: no such heading"
    done
done
