import { COMMANDS } from './commands.ts'
import { callOf } from './usage.ts'

const INTRODUCTION = `# Command line

\`cdsctl\` does on the machine of the service what the API does from elsewhere. Run \`npx cdsctl\` in the service's folder. It works whether or not
the service is running, and needs no key: whoever can run it has access to the databases. One exception: with the embedded ClickHouse, only the
running service can read events, so commands that need them fail with \`clickhouse_in_use\` until it stops. Two commands are for a developer's machine instead:
\`cdsctl listen\` and \`cdsctl event tail\` call the API at \`CDS_URL\` with the key in \`CDS_KEY\`.

- \`--tenant TENANT_ID\` chooses the tenant. You can leave it out if there is only one.
- \`--json\` prints one line of JSON: the operation's response in the [API reference](../openapi.json) without \`status\`. Each command below names
  its fields; one with a question mark may be absent. \`warnings\` has what the API would have warned about. Progress goes to standard error.
- With \`--json\`, an error is \`{"error":{"code","message"}}\` on standard output. Without it, an error is text on standard error.
- \`--help\` after a command prints its options.
- To pass a list, repeat its option. To pass an empty list, give the option an empty value: \`--ignored-ids ""\`.
- Every user of the machine can see a command's arguments. So a secret has the options \`--NAME-file\`, where \`-\` is standard input, and \`--NAME-env\`.

| Exit status | Means                                                                  |
| ----------- | ---------------------------------------------------------------------- |
| 0           | done                                                                   |
| 1           | an error; nothing was changed, or the message says what was            |
| 2           | an invalid call: an unknown or missing command or option               |
| 3           | some rows, records or events failed; the message says where to look    |

This page is generated from the commands themselves. The words of an operation are the same in the [API reference](../openapi.json).
`

/** docs/cli.md: every command with its options. */
export function renderCliReference(): string {
  const names = Object.keys(COMMANDS)
  const groups = [...Map.groupBy(names, (name) => name.split(' ')[0] ?? '')].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `${INTRODUCTION}\n${groups.map(([group, members]) => sectionOf(group, members)).join('\n')}`
}

function sectionOf(group: string, members: string[]): string {
  return `## ${group}\n\n${members.toSorted().map(commandOf).join('\n')}`
}

function commandOf(name: string): string {
  const { summary = '', options = {}, prints = [] } = COMMANDS[name] ?? {}
  const rows = Object.entries(options)
    .filter(([option]) => option !== 'tenant')
    .map(([option, { type, hint, required, multiple, description }]) => {
      const value = type === 'boolean' ? '' : ` ${hint}`
      const notes = [required ? 'Required.' : '', description ?? '', multiple ? 'Can be repeated.' : '']
      return `| \`--${option}${cellOf(value)}\` | ${cellOf(notes.filter((note) => note !== '').join(' '))} |`
    })
  const table = rows.length === 0 ? '' : `\n| Option | Meaning |\n| --- | --- |\n${rows.join('\n')}\n`
  // A group with one command of the same name needs no second heading.
  const heading = name.includes(' ') ? `### cdsctl ${name}\n\n` : ''
  const printed = typeof prints === 'string' ? prints : prints.map((field) => `\`${field}\``).join(', ')
  return `${heading}${summary}.\n\n    ${callOf(name)}\n${table}\nWith \`--json\`: ${printed}.\n`
}

/** A pipe would end the cell, also within code. */
function cellOf(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
