import { Box, Button, Code, Group, Stack, Table, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { Action } from '../api/types.ts'
import { Foreign, None } from '../ui/text.tsx'
import classes from './action-content.module.css'
import { MailPreview } from './mail-preview.tsx'
import { text } from './text.ts'

// Loaded on demand: only some actions have markdown.
const Markdown = lazy(() => import('../ui/markdown.tsx').then((module) => ({ default: module.Markdown })))

interface ActionContentProps {
  action: Pick<Action, 'type' | 'params'>
  /** Sender and recipient, if known. */
  from?: string | undefined
  to?: string | undefined
}

/** Exactly what an action sends, writes or changes. */
export function ActionContent({ action: { type, params }, from, to }: ActionContentProps) {
  if (type === 'crm_update') return <Changes properties={params.properties} />
  const message = textOf(type === 'note' ? params.content : params.message)
  const subject = textOf(params.subject)
  return (
    <Stack gap="xs" className={classes.paper}>
      {type === 'note' ? null : (
        <Box component="dl" className={classes.head}>
          {from === undefined ? null : <Line name={text.content.from} value={from} />}
          {to === undefined ? null : <Line name={text.content.to} value={to} />}
          {type === 'email_message' ? <Line name={text.content.subject} value={subject} isStrong /> : null}
        </Box>
      )}
      {type === 'email_message' ? <MailPreview subject={subject} message={message} /> : null}
      {type === 'note' ? <Formatted markdown={message} /> : null}
      {type === 'social_message' || type === 'social_connect' ? (
        <Text size="sm" className={classes.plain} dir="auto">
          {message === '' ? text.content.noMessage : message}
        </Text>
      ) : null}
    </Stack>
  )
}

function Line({ name, value, isStrong = false }: { name: string; value: string; isStrong?: boolean }) {
  return (
    <>
      <Text component="dt" size="sm" c="dimmed">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0} fw={isStrong ? 600 : undefined}>
        {value === '' ? <None /> : <Foreign max={400}>{value}</Foreign>}
      </Text>
    </>
  )
}

/** Markdown as colleagues see it, or its source, which shows every URL. */
function Formatted({ markdown }: { markdown: string }) {
  const [isSource, setSource] = useState(false)
  const source = (
    <Code block className={classes.source} dir="auto">
      {markdown}
    </Code>
  )
  return (
    <div>
      {isSource ? (
        source
      ) : (
        <Suspense fallback={source}>
          <Markdown>{markdown}</Markdown>
        </Suspense>
      )}
      <Group justify="flex-end">
        <Button variant="subtle" size="compact-xs" onClick={() => setSource(!isSource)}>
          {isSource ? text.content.formatted : text.content.source}
        </Button>
      </Group>
    </div>
  )
}

function Changes({ properties }: { properties: unknown }) {
  const entries = Object.entries(typeof properties === 'object' && properties !== null ? properties : {})
  return (
    <Table className={classes.changes} withTableBorder>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{text.content.property}</Table.Th>
          <Table.Th>{text.content.newValue}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Td>
              <Foreign max={100}>{name}</Foreign>
            </Table.Td>
            <Table.Td>
              {value === null ? <em>{text.content.removed}</em> : <Foreign max={500}>{String(value)}</Foreign>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
