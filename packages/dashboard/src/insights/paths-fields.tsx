import { NativeSelect, Stack, TextInput } from '@mantine/core'
import { EventField } from '../ui/event-field.tsx'
import { upTo } from '../ui/up-to.ts'
import { DEPTHS, ENDS, PATH_KINDS, type PathsDraft } from './paths-question.ts'
import { RangeField } from './range-field.tsx'
import { FormStatus, SharedFields } from './shared-fields.tsx'
import { text } from './text.ts'

const words = text.paths
/** The service's limit. */
const NAME_LENGTH_MAX = 2_000

interface PathsFieldsProps {
  draft: PathsDraft
  isTooLong: boolean
  onChange: (changes: Partial<PathsDraft>) => void
}

/** The question of paths: of what, from where or to where, and how far. */
export function PathsFields({ draft, isTooLong, onChange }: PathsFieldsProps) {
  const { kind, end, name, depth, range } = draft
  return (
    <Stack gap="md">
      <NativeSelect
        label={words.kind}
        value={kind}
        // A page is no event.
        onChange={({ currentTarget: { value } }) =>
          onChange({ kind: PATH_KINDS.find((each) => each === value) ?? kind, name: '' })
        }
        data={PATH_KINDS.map((each) => ({ value: each, label: words.kinds[each] }))}
      />
      <NativeSelect
        label={words.ends}
        value={end}
        onChange={({ currentTarget: { value } }) => onChange({ end: ENDS.find((each) => each === value) ?? end })}
        data={ENDS.map((each) => ({ value: each, label: words.endKinds[each] }))}
      />
      {end === 'all' ? null : kind === 'events' ? (
        <EventField label={words.name.events} value={name} onChange={(event) => onChange({ name: event })} />
      ) : (
        <TextInput
          label={words.name.pages}
          placeholder={words.pathPlaceholder}
          {...upTo(NAME_LENGTH_MAX)}
          autoComplete="off"
          value={name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        label={words.depth}
        value={String(depth)}
        onChange={(event) => onChange({ depth: Number(event.currentTarget.value) })}
        data={DEPTHS.map(String)}
      />
      <RangeField range={range} onChange={(changed) => onChange({ range: changed })} />
      <SharedFields draft={draft} onChange={onChange} />
      <FormStatus draft={draft} meant={[]} isTooLong={isTooLong} />
    </Stack>
  )
}
