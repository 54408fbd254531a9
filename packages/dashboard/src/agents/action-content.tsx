import { Box, Button, Code, Group, Stack, Table, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { Action } from '../api/approvals.ts'
import { Foreign, None } from '../ui/text.tsx'
import classes from './action-content.module.css'

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
  const text = textOf(type === 'note' ? params.content : params.message)
  return (
    <Stack gap="xs" className={classes.paper}>
      {type === 'note' ? null : (
        <Box component="dl" className={classes.head}>
          {from === undefined ? null : <Line name="From" value={from} />}
          {to === undefined ? null : <Line name="To" value={to} />}
          {type === 'email_message' ? <Line name="Subject" value={textOf(params.subject)} isStrong /> : null}
        </Box>
      )}
      {type === 'email_message' || type === 'note' ? (
        <Formatted text={text} />
      ) : (
        <Text size="sm" className={classes.plain} dir="auto">
          {text === '' ? 'No message.' : text}
        </Text>
      )}
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

/** Markdown as the recipient sees it, or its source, which shows every URL. */
function Formatted({ text }: { text: string }) {
  const [isSource, setSource] = useState(false)
  const source = (
    <Code block className={classes.source} dir="auto">
      {text}
    </Code>
  )
  return (
    <div>
      {isSource ? (
        source
      ) : (
        <Suspense fallback={source}>
          <Markdown>{text}</Markdown>
        </Suspense>
      )}
      <Group justify="flex-end">
        <Button variant="subtle" size="compact-xs" onClick={() => setSource(!isSource)}>
          {isSource ? 'Show formatted' : 'Show source'}
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
          <Table.Th>Property</Table.Th>
          <Table.Th>New value</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Td>
              <Foreign max={100}>{name}</Foreign>
            </Table.Td>
            <Table.Td>{value === null ? <em>removed</em> : <Foreign max={500}>{String(value)}</Foreign>}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
