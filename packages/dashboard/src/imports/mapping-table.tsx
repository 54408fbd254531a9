import { Select, Stack, Text, TextInput } from '@mantine/core'
import type { ColumnMapping, Import, Property } from '../api/types.ts'
import { propertyLabel } from '../ui/property-value.ts'
import { Foreign } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { CellFormat } from './cell-format.tsx'
import { choiceOf, withChoice } from './mapping-draft.ts'
import classes from './mapping-table.module.css'
import { text } from './text.ts'

interface MappingTableProps {
  columns: Import['columns']
  /** What is between the cells of the file. */
  delimiter: string
  draft: readonly ColumnMapping[]
  problems: ReadonlyMap<number, string>
  /** The properties that contacts have. */
  properties: readonly Property[]
  nameOf: (column: number) => string
  onChange: (mapping: ColumnMapping) => void
}

const { targets, groups } = text.mapping
const HEADINGS = Object.values(text.mapping.columns)
const COMPANY = ['company', 'company_domain']

/** Each column with its samples, and where it goes. */
export function MappingTable({ columns, delimiter, draft, problems, properties, nameOf, onChange }: MappingTableProps) {
  const others = properties.filter(({ name }) => ![...COMPANY, 'email'].includes(name))
  const known = new Set([...COMPANY, ...others.map(({ name }) => name)])
  const data = [
    { group: groups.identify, items: options('email', 'external_id') },
    {
      group: groups.company,
      items: [
        { value: 'property:company', label: targets.company },
        { value: 'property:company_domain', label: targets.company_domain },
      ],
    },
    { group: groups.name, items: options('full_name') },
    { group: groups.other, items: options('new', 'ignore') },
    { group: groups.properties, items: others.map(({ name, label }) => ({ value: `property:${name}`, label })) },
  ]
  return (
    <ul className={classes.list} aria-label={text.mapping.table}>
      <li className={`${classes.row} ${classes.head}`} aria-hidden>
        {HEADINGS.map((heading) => (
          <Text key={heading} size="xs" fw={600} c="dimmed">
            {heading}
          </Text>
        ))}
      </li>
      {draft.map((mapping) => {
        const { column } = mapping
        const name = nameOf(column)
        const choice = choiceOf(mapping, known)
        const problem = problems.get(column)
        return (
          <li key={column} className={classes.row}>
            <Stack gap={2} className={classes.cell}>
              <Text fw={550} size="sm">
                <Foreign max={120}>{name}</Foreign>
              </Text>
              <Note note={columns[column]?.note ?? null} nameOf={nameOf} />
            </Stack>
            <Samples samples={columns[column]?.samples ?? []} />
            <Stack gap={6}>
              <Select
                aria-label={text.mapping.target(name)}
                data={data}
                value={choice}
                allowDeselect={false}
                searchable
                nothingFoundMessage={text.mapping.nothingFound}
                maxDropdownHeight={300}
                limit={200}
                error={choice === 'new' ? undefined : problem}
                onChange={(next) => next !== null && onChange(withChoice(mapping, next, columns[column]?.header ?? ''))}
              />
              {choice === 'new' ? (
                <TextInput
                  aria-label={text.mapping.newName(name)}
                  value={mapping.property ?? ''}
                  error={problem}
                  {...upTo(128)}
                  onChange={({ currentTarget: { value } }) => onChange({ ...mapping, property: value })}
                />
              ) : null}
            </Stack>
            <CellFormat
              name={name}
              column={columns[column]}
              mapping={mapping}
              delimiter={delimiter}
              onChange={onChange}
            />
          </li>
        )
      })}
    </ul>
  )
}

/** Why the column goes where the proposal sends it. */
function Note({ note, nameOf }: { note: Import['columns'][number]['note']; nameOf: (column: number) => string }) {
  if (note === null) return null
  const { code, column = 0, target = '' } = note
  const sentence =
    code === 'same_target'
      ? text.mapping.notes.same_target(nameOf(column), propertyLabel(target))
      : text.mapping.notes[code]
  return (
    <Text size="xs" c="dimmed">
      <Foreign max={300}>{sentence}</Foreign>
    </Text>
  )
}

function options(...names: ('email' | 'external_id' | 'full_name' | 'new' | 'ignore')[]) {
  return names.map((value) => ({ value, label: targets[value] }))
}

function Samples({ samples }: { samples: readonly string[] }) {
  if (samples.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {text.mapping.noSamples}
      </Text>
    )
  }
  return (
    <Stack gap={2} className={classes.cell}>
      {samples.map((sample) => (
        <Text key={sample} size="sm" c="dimmed" lineClamp={2}>
          <Foreign max={120}>{sample}</Foreign>
        </Text>
      ))}
    </Stack>
  )
}
