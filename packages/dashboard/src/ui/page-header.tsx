import { Box, Group, Text, Title } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { rememberPage } from '../session/recent-pages.ts'
import { text } from './text.ts'

interface PageHeaderProps {
  title: ReactNode
  /** The window's title, if `title` is not a text. */
  documentTitle?: string
  description?: ReactNode
  /** Buttons at the right. */
  actions?: ReactNode
  /** Links to parent pages. */
  breadcrumb?: ReactNode
}

/** The header of every page: its only h1, and its actions. */
export function PageHeader({ title, documentTitle, description, actions, breadcrumb }: PageHeaderProps) {
  const name = documentTitle ?? (typeof title === 'string' ? title : undefined)
  useTitle(name)
  const path = useLocation({ select: ({ pathname }) => pathname })
  const isWithinList = Boolean(breadcrumb)
  useEffect(() => {
    if (name !== undefined && isWithinList) rememberPage(path, name)
  }, [path, name, isWithinList])
  return (
    <Box mb="lg" component="header">
      {breadcrumb ? (
        <Text size="sm" mb={4} component="div">
          {breadcrumb}
        </Text>
      ) : null}
      <Group justify="space-between" align="flex-start" gap="md">
        <Box miw={0} style={{ flex: '1 1 150px' }}>
          <Title order={1} lineClamp={2}>
            {title}
          </Title>
          {description ? (
            <Text c="dimmed" size="sm" mt={2} component="div">
              {description}
            </Text>
          ) : null}
        </Box>
        {actions ? <Group gap="xs">{actions}</Group> : null}
      </Group>
    </Box>
  )
}

/** The window's title while a page is shown. */
export function useTitle(name: string | undefined): void {
  useEffect(() => {
    document.title = text.title(name)
  }, [name])
}
