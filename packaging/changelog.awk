# The Debian changelog made of CHANGELOG.md: each released version, "## VERSION, DATE", with its list. What is
# not released is left out.
function finish() {
    if (date != "")
        printf "\n -- Faultline maintainers <maintainers@faultline.example.org>  %s\n\n", date
    date = ""
}
/^## / {
    finish()
    listed = match($0, /^## [0-9.]+, /)
    if (listed) {
        date = substr($0, RLENGTH + 1)
        printf "faultline (%s) unstable; urgency=low\n\n", substr($0, 4, RLENGTH - 5)
    }
    next
}
listed && NF {
    gsub(/`/, "")
    if (!sub(/^- /, "  * "))
        sub(/^ +/, "    ")
    print
}
END { finish() }
