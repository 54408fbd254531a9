import { Alert, Text } from '@mantine/core'
import type { Import } from '../api/types.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

/** How many contacts get no mail after the import, and how many get mail again. */
export function ConsentNotice({ of: { consent, state } }: { of: Import }) {
  if (consent === null) return null
  const said = text.consent[state === 'completed' ? 'done' : 'planned']
  const { silenced, still_silent: still, released, columns } = consent
  const sentences = [
    ...(silenced === 0
      ? []
      : [
          said.silenced(
            silenced,
            columns.map(({ property }) => property),
          ),
        ]),
    ...(still === 0 ? [] : [said.still(still)]),
  ]
  return (
    <>
      {sentences.length === 0 ? null : (
        <Alert color="blue" role="status">
          {sentences.map((sentence) => (
            <Text key={sentence} size="sm">
              <Foreign max={1_000}>{sentence}</Foreign>
            </Text>
          ))}
        </Alert>
      )}
      {released === 0 ? null : (
        <Alert color="orange" role="alert">
          {said.released(released)}
        </Alert>
      )}
    </>
  )
}
