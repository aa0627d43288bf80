#compdef imgctl
# Completes the command line of imgctl in zsh.
# Made from the command tree by `npm run generate`: change src/reference/completions instead.

# What a command takes: $subcommands and $flags with what they mean, $kinds of its arguments, $variadic where the
# last may come again.
_imgctl_command() {
  subcommands=() flags=() kinds=() variadic=
  case $1 in
@commands@
  esac
}

# The $kind of value that an option of a command takes; fails where it takes none.
_imgctl_value() {
  case $1:$2 in
@values@
    *) kind= ; return 1 ;;
  esac
}

# The $kind of value that a setting takes.
_imgctl_setting() {
  case $1 in
@settings@
    *) kind=none ;;
  esac
}

# Reads the words before the cursor: the command as $node, its arguments as $rest, an option that waits for its
# value as $pending, whether -- has $ended the options, and in $scope whose values are wanted.
_imgctl_walk() {
  local word index
  for word in "${(@Q)words[2,CURRENT-1]}"; do
    if [[ -n $pending ]]; then
      case $pending in --profile | --base-url) scope+=("$pending=$word") ;; esac
      pending=
    elif [[ -n $ended ]]; then
      rest+=("$word")
    else
      case $word in
        --) ended=1 ;;
        --profile=* | --base-url=*) scope+=("$word") ;;
        --*=*) ;;
        --*) if _imgctl_value "$node" "$word"; then pending=$word; fi ;;
        -?*)
          for ((index = 2; index <= $#word; index++)); do
            _imgctl_value "$node" "-$word[index]" || continue
            if ((index == $#word)); then pending=-$word[index]; fi
            break
          done
          ;;
        *)
          _imgctl_command "$node"
          if (($#rest == 0 && ${${(@)subcommands%%:*}[(Ie)$word]})); then
            node=${node:+$node }$word
          else
            rest+=("$word")
          fi
          ;;
      esac
    fi
  done
}

# Offers what a value of this kind can be.
_imgctl_offer() {
  local text=${(Q)PREFIX} said
  local first=${text%%,*}
  local -a choices=(${=1}) found
  local -i middle
  local kind=$choices[1]
  shift choices
  case $kind in
    words) compadd -- $choices ;;
    list)
      found=("${(@s:,:)text}")
      found=(${choices:|found})
      if compset -P '*,'; then found=(${found:#all}); fi
      compadd -S '' -- $found
      ;;
    steps)
      middle=$choices[(i):]
      found=($choices[1,middle-1])
      if [[ $text != *,* ]]; then
        compadd -S , -- $found
      elif [[ $text != *,*,* ]] && ((${found[(Ie)$first]})); then
        compset -P '*,'
        found=($choices[middle+1,-1])
        compadd -- ${found:#*,}
        compadd -S , -- ${${(M)found:#*,}%,}
      fi
      ;;
    files) _files ;;
    directories) _files -/ ;;
    ask)
      said=$(command imgctl __complete $choices "${scope[@]}" -- "$text" </dev/null 2>/dev/null)
      if [[ -n $said ]]; then
        found=("${(@0)said%$'\0'}")
        # Without -- before it such a name would be an option.
        if [[ -z $ended ]]; then found=("${(@)found:#-*}"); fi
        compadd -o nosort -a -- found
      fi
      ;;
    setting)
      _imgctl_setting "$rest[-1]"
      _imgctl_offer "$kind"
      ;;
    help)
      _imgctl_command "$rest"
      if ((!$#rest)); then subcommands+=($choices); fi
      _describe -t commands command subcommands
      ;;
  esac
}

_imgctl() {
  local curcontext=$curcontext node= pending= ended= kind= variadic= typed
  local -a rest scope subcommands flags kinds
  _imgctl_walk
  typed=${(Q)PREFIX}
  if [[ -n $pending ]]; then
    _imgctl_value "$node" "$pending"
  elif [[ -z $ended && $typed == --*=* ]] && _imgctl_value "$node" "${typed%%=*}"; then
    compset -P '*='
  elif [[ -z $ended && $typed == -[^-]?* ]] && _imgctl_value "$node" "$typed[1,2]"; then
    compset -p 2
  else
    _imgctl_command "$node"
    if [[ -z $ended && $typed == -* ]]; then
      flags+=(
@global@
      )
      _describe -o option flags
      return
    elif ((!$#rest && $#subcommands)); then
      _describe -t commands command subcommands
      return
    elif (($#rest < $#kinds)); then
      kind=$kinds[$#rest+1]
    elif [[ -n $variadic ]]; then
      kind=$kinds[-1]
    else
      kind=none
    fi
  fi
  _imgctl_offer "$kind"
}

if [[ $funcstack[1] == _imgctl ]]; then
  _imgctl "$@"
elif (($+functions[compdef])); then
  compdef _imgctl imgctl
fi
