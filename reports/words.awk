# GLOSSARY.md as an array of C: a row for each form of a word, **bold** or in parentheses behind one.
# A row: form, the id that all forms of one explanation share, how the glossary writes it, meaning.
function plain(text) {
    gsub(/[*`]/, "", text)
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return text
}
function emit(form) {
    if (id == "") {
        id = form
        gsub(/[^A-Za-z0-9]+/, "-", id)
    }
    printf "{\"%s\", \"%s\", \"%s\", \"%s\"},\n", form, id, title, meaning
}
BEGIN { print "static const struct word words[] = {" }
/^\| \*\*/ {
    split($0, cell, / *\| */)
    title = plain(cell[2])
    meaning = plain(cell[3])
    id = ""
    count = split(cell[2], part, /\*\*|[()]/)
    for (i = 2; i <= count; i += 2) emit(plain(part[i]))
}
END { print "};" }
