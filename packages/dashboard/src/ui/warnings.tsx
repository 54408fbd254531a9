import { Alert, Stack } from '@mantine/core'
import { Foreign } from './text.tsx'

/** What the service found odd in a request that it answered, such as a property that nothing has. */
export function Warnings({ of = [] }: { of: readonly string[] | undefined }) {
  if (of.length === 0) return null
  return (
    <Stack gap="xs" mb="sm">
      {of.map((warning) => (
        <Alert key={warning} color="orange" variant="light" role="status">
          <Foreign max={300}>{warning}</Foreign>
        </Alert>
      ))}
    </Stack>
  )
}
