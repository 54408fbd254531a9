import { NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { propertyLabel } from '../ui/property-value.ts'
import { ErrorState } from '../ui/states.tsx'
import { text } from './text.ts'

/** The service's limit for a page, which is more than a workspace can have. */
const LISTED_MAX = 100

interface ScoreSelectProps {
  /** The name of a score, empty for none. */
  value: string
  onChange: (name: string) => void
}

/** Chooses one of the scores of contacts. */
export function ScoreSelect({ value, onChange }: ScoreSelectProps) {
  const { data, error, refetch } = useQuery(
    queryOf('listComputedProperties', { entity: 'contacts', limit: LISTED_MAX }),
  )
  const names = data?.computed_properties.flatMap(({ name, score }) => (score === null ? [] : name)) ?? []
  const isListed = value === '' || names.includes(value)
  return (
    <>
      {error ? <ErrorState error={error} onRetry={refetch} /> : null}
      <NativeSelect
        label={text.triggers.score}
        required
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        data={[
          { value: '', label: text.triggers.chooseScore },
          ...[...(isListed ? [] : [value]), ...names].map((name) => ({ value: name, label: propertyLabel(name) })),
        ]}
      />
      {data && names.length === 0 ? <Text size="sm">{text.triggers.noScores}</Text> : null}
    </>
  )
}
