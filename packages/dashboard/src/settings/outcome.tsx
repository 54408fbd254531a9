import { Alert } from '@mantine/core'
import { FormError } from '../ui/form.tsx'

/** What became of a saved form. */
export function Outcome({ error, success }: { error: unknown; success: string | null }) {
  if (error) return <FormError error={error} />
  return success === null ? null : (
    <Alert color="green" role="status">
      {success}
    </Alert>
  )
}
