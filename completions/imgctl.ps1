# Completes the command line of imgctl in PowerShell, from 5.1 on: offers what `imgctl __complete` prints.

Register-ArgumentCompleter -Native -CommandName imgctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words before the cursor, and the one at the cursor.
    $words = @()
    $typed = ''
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.StartOffset -ge $cursorPosition) { break }
        $isText = $element -is [System.Management.Automation.Language.StringConstantExpressionAst] -or
            $element -is [System.Management.Automation.Language.ExpandableStringExpressionAst]
        $text = if ($isText) { $element.Value } else { $element.Extent.Text }
        if ($element.Extent.EndOffset -lt $cursorPosition) { $words += $text } else { $typed = $text }
    }

    # Encoded, as older versions drop empty arguments and quotes.
    $line = ($words + $typed + $wordToComplete) -join [char]0
    $encoded = [Convert]::ToBase64String([System.Text.Encoding]::UTF8.GetBytes($line))
    $encoding = [Console]::OutputEncoding
    $said = ''
    try {
        [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
        $said = (& imgctl __complete powershell -- $encoded 2>$null) -join "`n"
    } catch {
    } finally {
        [Console]::OutputEncoding = $encoding
    }

    $mode, $lead, $records = $said.Split([char]0)
    # PowerShell completes files by itself if nothing is offered.
    if ($mode -in 'files', 'folders' -and -not $lead) { return }
    $records = @($records)
    $results = @()
    for ($index = 0; $index + 2 -lt $records.Count; $index += 3) {
        $results += [System.Management.Automation.CompletionResult]::new(
            $records[$index], $records[$index + 1], 'ParameterValue', $records[$index + 2])
    }
    # An empty text keeps PowerShell from offering files.
    if ($results.Count -eq 0) { '' } else { $results }
}
