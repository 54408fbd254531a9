import { Card, JsonInput, NativeSelect, ScrollArea, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { HookBody } from '../api/types.ts'
import { formatMoment } from '../ui/format.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { bodyQuery } from './hook-queries.ts'
import { JsonTree } from './json-tree.tsx'
import type { Draft } from './mapping-draft.ts'
import { text } from './text.ts'

const words = text.mapping
const PASTED = 'pasted'

interface SamplePanelProps {
  hookId: string
  bodies: readonly HookBody[]
  /** The body to show; undefined for a pasted sample. */
  bodyId: string | undefined
  onBody: (bodyId: string | undefined) => void
  sample: unknown
  onSample: (sample: unknown) => void
  draft: Draft
  /** null: the values cannot be clicked. */
  setDraft: ((draft: Draft) => void) | null
  /** The field that a click on a value fills. */
  selected: string | null
}

/** The sample for the mapping: a body that the hook has received, or a pasted one. */
export function SamplePanel(props: SamplePanelProps) {
  const { hookId, bodies, bodyId, onBody, sample, onSample, ...picking } = props
  return (
    <Card>
      <Stack gap="sm">
        <Title order={2} size="h5">
          {words.sample}
        </Title>
        {bodies.length === 0 ? (
          <Text size="sm" c="dimmed">
            {words.noBodies}
          </Text>
        ) : (
          <NativeSelect
            label={words.choose}
            value={bodyId ?? PASTED}
            onChange={({ currentTarget: { value } }) => onBody(value === PASTED ? undefined : value)}
            data={[
              ...bodies.map(({ body_id: value, received_at: at, state, event }) => ({
                value,
                label: [formatMoment(at), text.bodyStates[state], event ?? '']
                  .filter(Boolean)
                  .join(' · ')
                  .slice(0, 120),
              })),
              { value: PASTED, label: words.pasted },
            ]}
          />
        )}
        {bodyId === undefined ? (
          <Paste onSample={onSample} />
        ) : (
          <Received key={bodyId} hookId={hookId} bodyId={bodyId} onSample={onSample} />
        )}
        {sample === undefined ? null : (
          <ScrollArea.Autosize mah={560} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': words.tree }}>
            <JsonTree value={sample} {...picking} />
          </ScrollArea.Autosize>
        )}
      </Stack>
    </Card>
  )
}

interface SampleSource {
  onSample: (sample: unknown) => void
}

function Received({ hookId, bodyId, onSample }: SampleSource & { hookId: string; bodyId: string }) {
  const { data, error, refetch } = useQuery(bodyQuery(hookId, bodyId))
  const content = data?.data
  useEffect(() => onSample(content), [content, onSample])
  if (error) return <ErrorState error={error} onRetry={refetch} />
  return data ? null : <LoadingState lines={4} />
}

function Paste({ onSample }: SampleSource) {
  const [pasted, setPasted] = useState('')
  const parsed = parse(pasted)
  return (
    <JsonInput
      label={words.paste}
      autosize
      minRows={4}
      maxRows={10}
      value={pasted}
      error={pasted.trim() !== '' && parsed === undefined ? words.notJson : undefined}
      onChange={(value) => {
        setPasted(value)
        onSample(parse(value))
      }}
    />
  )
}

function parse(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return value !== null && typeof value === 'object' ? value : undefined
  } catch {
    return undefined
  }
}
