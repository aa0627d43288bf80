# Completes the command line of imgctl in bash, from 3.2 on: offers what `imgctl __complete` prints.

_imgctl() {
  local IFS=$' \t\n' line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[^:=]/}
  local words=() current= kept= quote= char i said mode value
  # The words as the command would get them. Of the last one, readline keeps what precedes an open
  # quote, or follows no break.
  for ((i = 0; i < ${#line}; i++)); do
    char=${line:i:1}
    case $quote$char in
      \'\' | \"\") quote= ;;
      \\?) quote= current+=$char ;;
      ??) current+=$char ;;
      \\) quote=$char ;;
      [\'\"]) quote=$char kept=$current ;;
      [[:space:]]) if [[ -n $current ]]; then words+=("$current") current= kept=; fi ;;
      *)
        current+=$char
        if [[ $breaks == *"$char"* ]]; then kept=$current; fi
        ;;
    esac
  done
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
