# Completes the command line of imgctl in bash, from 3.2 on: offers what `imgctl __complete` prints.

_imgctl() {
  local IFS=$' \t\n' line=${COMP_LINE:0:COMP_POINT} words said mode value kept= breaks=${COMP_WORDBREAKS//[^:=]/}
  local current=${line##*[[:space:]]}
  read -ra words <<<"${line%"$current"}"
  # Readline replaces only what follows an open quote, or the last break in the word.
  case $current in
    [\'\"]*) current=${current:1} ;;
    --*=[\'\"]*) kept=${current%%=*}= current=$kept${current#*=?} ;;
    *) [[ -z $breaks ]] || kept=${current%"${current##*[$breaks]}"} ;;
  esac
  said=$(command imgctl __complete -- "${words[@]:1}" "$current" </dev/null 2>/dev/null)
  mode=${said##*:}
  COMPREPLY=()
  case $mode in
    space) compopt -o nosort 2>/dev/null ;;
    nospace) compopt -o nosort -o nospace 2>/dev/null ;;
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
    packages)
      compopt -o filenames -o plusdirs 2>/dev/null
      while IFS= read -r value; do
        COMPREPLY+=("$value")
      done < <(compgen -f -X '!*.[oO][vV][aAfF]' -- "$current")
      ;;
  esac
  while IFS=$'\t' read -r value _; do
    if [[ -n $value && $value == "$current"* && $value != :"$mode" ]]; then COMPREPLY+=("${value#"$kept"}"); fi
  done <<<"$said"
}

complete -F _imgctl imgctl
