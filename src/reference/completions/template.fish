# Completes the command line of imgctl in fish.
# Made from the command tree by `npm run generate`: change src/reference/completions instead.

# The functions below share the variables of __imgctl_complete.

# What a command takes: $subcommands and $flags with what they mean, $kinds of its arguments, $variadic where the
# last may come again.
function __imgctl_command -S
    set subcommands
    set flags
    set kinds
    set variadic
    switch "$argv"
@commands@
    end
end

# The $kind of value that an option of a command takes; fails where it takes none.
function __imgctl_value -S
    switch "$argv[1]:$argv[2]"
@values@
        case '*'
            set kind
            return 1
    end
    return 0
end

# The $kind of value that a setting takes.
function __imgctl_setting -S
    switch "$argv"
@settings@
        case '*'
            set kind none
    end
end

# Reads the words before the cursor: the command as $node, its arguments as $rest, an option that waits for its
# value as $pending, whether -- has $ended the options, and in $scope whose values are wanted.
function __imgctl_walk -S
    for word in $words
        if test -n "$pending"
            if contains -- $pending --profile --base-url
                set -a scope "$pending=$word"
            end
            set pending
        else if test -n "$ended"
            set -a rest $word
        else
            switch $word
                case --
                    set ended 1
                case '--profile=*' '--base-url=*'
                    set -a scope $word
                case '--*=*'
                case '--*'
                    if __imgctl_value "$node" $word
                        set pending $word
                    end
                case '-*'
                    set -l letters (string split '' -- (string sub -s 2 -- $word))
                    while set -q letters[1]
                        if __imgctl_value "$node" -$letters[1]
                            if not set -q letters[2]
                                set pending -$letters[1]
                            end
                            break
                        end
                        set -e letters[1]
                    end
                case '*'
                    __imgctl_command $node
                    if not set -q rest[1]; and contains -- $word (string split -f1 \t -- $subcommands)
                        set node (string trim -- "$node $word")
                    else
                        set -a rest $word
                    end
            end
        end
    end
end

# Prints, each with a NUL after it, what a value of this kind can be after $lead, given the $text typed so far.
function __imgctl_offer -S
    set -l choices (string split ' ' -- $kind)
    set -l kind $choices[1]
    set -e choices[1]
    set -l found
    switch $kind
        case words
            set found $choices
        case list
            set -l chosen (string match -r -- '^.*,' $text)
            for item in $choices
                if test -z "$chosen"
                    set -a found $item
                else if test $item != all; and not contains -- $item (string split , -- $chosen)
                    set -a found $chosen$item
                end
            end
        case steps
            set -l middle (contains -i -- : $choices)
            set -l first (string split -f1 , -- $text)
            if not string match -q '*,*' -- $text
                set found $choices[1..(math $middle - 1)],
            else if contains -- "$first" $choices[1..(math $middle - 1)]
                set found $first,$choices[(math $middle + 1)..]
            end
        case files
            set found (__fish_complete_path $text)
        case directories
            set found (__fish_complete_directories $text '')
        case ask
            # Fish finds names by any part of them, ids are said only where one is typed.
            set -l prefix (string match -r '^\d+$' -- $text)
            for item in (command imgctl __complete $choices $scope -- $prefix </dev/null 2>/dev/null | string split0)
                # A tab would begin a description; without -- before it a dash would begin an option.
                if string match -q '*'\t'*' -- $item
                    continue
                end
                if test -n "$ended"; or not string match -q -- '-*' $item
                    set -a found $item
                end
            end
        case setting
            __imgctl_setting $rest[-1]
            __imgctl_offer
            return
        case help
            __imgctl_command $rest
            set found $subcommands
            if not set -q rest[1]
                set -a found $choices
            end
    end
    if set -q found[1]
        printf '%s\0' $lead$found
    end
end

function __imgctl_complete
    set -l words (commandline -opc)
    set -l text (commandline -ct)
    set -l lead ''
    set -l node
    set -l pending
    set -l ended
    set -l rest
    set -l scope
    set -l subcommands
    set -l flags
    set -l kinds
    set -l variadic
    set -l kind
    set -e words[1]
    __imgctl_walk
    set -l flag (string match -r -- '^--[^=]+(?==)' $text; or string match -r -- '^-[^-]' $text)
    if test -n "$pending"
        __imgctl_value "$node" $pending
    else if test -z "$ended"; and test "$flag" != "$text"; and __imgctl_value "$node" "$flag"
        set lead (string match -r -- '^--[^=]+=|^-[^-]' $text)
        set text (string replace -- $lead '' $text)
    else
        __imgctl_command $node
        if test -z "$ended"; and string match -q -- '-*' $text
            set flags $flags \
@global@
            printf '%s\0' $flags
            return
        else if not set -q rest[1]; and set -q subcommands[1]
            printf '%s\0' $subcommands
            return
        else if test (count $rest) -lt (count $kinds)
            set kind $kinds[(math (count $rest) + 1)]
        else if test -n "$variadic"
            set kind $kinds[-1]
        else
            set kind none
        end
    end
    __imgctl_offer
end

complete -c imgctl -f -k -a '(__imgctl_complete | string split0)'
