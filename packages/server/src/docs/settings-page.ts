const INTRODUCTION = `# Settings

Settings are environment variables. Every one has a default, so the service starts without any. The start reports all invalid values at once.

This page is generated from \`.env.example\`, which has the same lines ready to copy.
`

/** docs/settings.md, from the text of .env.example: a comment describes the variables up to the next comment. */
export function renderSettingsPage(example: string): string {
  const rows: string[] = []
  let described: string[] = []
  let comment: string[] = []
  for (const line of example.split('\n').slice(1)) {
    const [, commented, name, value = ''] = /^(# )?([A-Z][A-Z_]+)=(.*)$/.exec(line) ?? []
    if (name !== undefined) {
      if (comment.length > 0) described = comment
      comment = []
      const shown = value === '' ? 'none' : `\`${value.replaceAll('|', '\\|')}\``
      rows.push(
        `| \`${name}\` | ${commented ? `none; example: ${shown}`.replace('; example: none', '') : shown} | ${described.join(' ')} |`,
      )
    } else if (line.startsWith('# ')) {
      comment.push(line.slice(2).replaceAll('|', '\\|'))
    } else {
      comment = []
    }
  }
  return `${INTRODUCTION}\n| Variable | Default | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}
