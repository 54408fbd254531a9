import { Card, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

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
