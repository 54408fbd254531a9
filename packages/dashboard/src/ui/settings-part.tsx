import { Alert, Card, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { FormError } from './form.tsx'

/** A section of a settings page. */
export function SettingsPart({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <Card>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  )
}

/** What became of a saved form. */
export function Outcome({ error, success }: { error: unknown; success: string | null }) {
  if (error) return <FormError error={error} />
  return success === null ? null : (
    <Alert color="green" role="status">
      {success}
    </Alert>
  )
}
