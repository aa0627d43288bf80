# Completes the command line of imgctl in fish: offers what `imgctl __complete` prints.

function __imgctl_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    # As the command would get it, also while a quote is open.
    set -l text (string unescape -- "$token" "$token'" "$token\"")[1]
    set -l said (command imgctl __complete -- $words[2..] "$text" </dev/null 2>/dev/null)
    set -l lead (string match -r -- '^--[\w-]+=' "$text"; or echo '')
    set -l path (string replace -r -- '^--[\w-]+=' '' "$text")
    switch "$said[-1]"
        case :files
            printf '%s\n' $lead(__fish_complete_path "$path")
        case :folders
            printf '%s\n' $lead(__fish_complete_directories "$path" '')
        case :packages
            __fish_complete_path "$path" | string match -ri -- '^[^\t]*(?:/|\.ov[af])(?:\t.*)?$'
        case '*'
            set -q said[2]; and printf '%s\n' $said[..-2]
    end
end

complete -c imgctl -f -k -a '(__imgctl_complete)'
