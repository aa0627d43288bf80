# Completes the command line of imgctl in bash, from 3.2 on: offers what `imgctl __complete` prints.

_imgctl() {
  local item said=()
  COMPREPLY=()
  while IFS= read -r -d '' item; do
    said+=("$item")
  done < <(command imgctl __complete bash -- "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" </dev/null 2>/dev/null)
  COMPREPLY=(${said[@]+"${said[@]:2}"})
  compopt -o nosort 2>/dev/null
  case ${said[0]-} in
    nospace) compopt -o nospace 2>/dev/null ;;
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
  esac
}

complete -F _imgctl imgctl
