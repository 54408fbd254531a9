import { Alert, Text } from '@mantine/core'
import type { Import } from '../api/imports.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

/** How many contacts get no mail after the import, and how many get mail again. */
export function ConsentNotice({ consent }: Pick<Import, 'consent'>) {
  if (consent === null) return null
  const { silenced, still_silent: still, released, columns } = consent
  const sentences = [
    ...(silenced === 0
      ? []
      : [
          text.consent.silenced(
            silenced,
            columns.map(({ property }) => property),
          ),
        ]),
    ...(still === 0 ? [] : [text.consent.still(still)]),
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
          {text.consent.released(released)}
        </Alert>
      )}
    </>
  )
}
