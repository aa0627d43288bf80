# Completes the command line of imgctl in fish: offers what `imgctl __complete` prints.

function __imgctl_complete
    set -l words (commandline -opc)
    set -l text (commandline -ct)
    set -e words[1]
    set -l said (command imgctl __complete fish -- $words "$text" </dev/null 2>/dev/null | string split0)
    set -l lead $said[2]
    set -l path (string sub -s (math (string length -- "$lead") + 1) -- "$text")
    set -l found $said[3..]
    switch "$said[1]"
        case files
            set found $lead(__fish_complete_path "$path")
        case folders
            set found $lead(__fish_complete_directories "$path" '')
    end
    if set -q found[1]
        printf '%s\0' $found
    end
end

complete -c imgctl -f -k -a '(__imgctl_complete | string split0)'
