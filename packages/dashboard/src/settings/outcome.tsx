import { Alert } from '@mantine/core'
import { messageOf } from '../ui/states.tsx'

/** What became of a saved form. */
export function Outcome({ error, success }: { error: unknown; success: string | null }) {
  if (error) {
    return (
      <Alert color="red" role="alert">
        {messageOf(error)}
      </Alert>
    )
  }
  return success === null ? null : (
    <Alert color="green" role="status">
      {success}
    </Alert>
  )
}
