import { Box, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { FormError } from '../ui/form.tsx'
import classes from './entry-frame.module.css'
import { text } from './text.ts'

interface EntryFrameProps {
  title: string
  description?: ReactNode
  error?: unknown
  children: ReactNode
}

/** The frame of the pages before the dashboard: sign-in, first start, invitation. */
export function EntryFrame({ title, description, error, children }: EntryFrameProps) {
  useEffect(() => {
    document.title = text.title(title)
  }, [title])
  return (
    <Box component="main" className={classes.page}>
      <Paper className={classes.card} radius="lg" p="xl" shadow="sm">
        <Stack gap="lg">
          <Stack gap={6}>
            <img src="/favicon.svg" alt="" width={36} height={36} />
            <Title order={1} mt="sm">
              {title}
            </Title>
            {description ? (
              <Text c="dimmed" size="sm">
                {description}
              </Text>
            ) : null}
          </Stack>
          <FormError error={error} />
          {children}
        </Stack>
      </Paper>
    </Box>
  )
}
