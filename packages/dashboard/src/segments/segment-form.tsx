import { Alert, Button, Card, Grid, Group, SegmentedControl, Stack, Textarea, TextInput, Title } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Entity, Segment } from '../api/types.ts'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import { useFilterForm } from '../filters/use-filter-form.ts'
import { PreviewPanel } from '../records/preview-panel.tsx'
import { Form } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { FilterJson } from './filter-json.tsx'
import { text } from './text.ts'

const ENTITIES: { value: Entity; label: string }[] = [
  { value: 'contacts', label: text.entities.contacts },
  { value: 'companies', label: text.entities.companies },
]

interface SegmentFormProps {
  /** The segment to edit; absent for a new one. */
  segment?: Segment
  /** A segment that a new one begins as. */
  copyOf?: Segment | undefined
}

/** Name, description and filter, with the number of matching contacts beside them. */
export function SegmentForm({ segment, copyOf }: SegmentFormProps) {
  const origin = segment ?? copyOf
  const navigate = useNavigate()
  const [name, setName] = useState(segment?.name ?? (copyOf ? text.form.copyOf(copyOf.name).slice(0, 200) : ''))
  const [description, setDescription] = useState(origin?.description ?? '')
  const [entity, setEntity] = useState<Entity>(origin?.entity ?? 'contacts')
  const form = useFilterForm(entity, origin?.filter)
  const { filter, unfinished } = form
  const onDone = ({ segment: saved }: { segment: Segment }) =>
    navigate({ to: '/segments/$segmentId', params: { segmentId: saved.segment_id } })
  const creating = useOperation('createSegment', { onDone })
  const updating = useOperation('updateSegment', { onDone })
  const saving = segment ? updating : creating
  const submit = () => {
    const written = description.trim()
    const definition = { name: name.trim(), description: written === '' ? null : written, filter }
    if (segment) updating.mutate({ segment_id: segment.segment_id, ...definition })
    else creating.mutate({ ...definition, entity })
  }
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Form onSubmit={submit}>
          <Card>
            <Stack gap="sm">
              {segment ? null : (
                <SegmentedControl
                  aria-label={text.form.members}
                  value={entity}
                  // What one can name, the other cannot.
                  onChange={(chosen) => {
                    setEntity(chosen)
                    form.reset(undefined)
                  }}
                  data={ENTITIES}
                  style={{ alignSelf: 'flex-start' }}
                />
              )}
              <TextInput
                label={text.form.name}
                required
                {...upTo(200)}
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <Textarea
                label={text.form.description}
                autosize
                minRows={1}
                maxRows={6}
                {...upTo(2_000)}
                value={description}
                onChange={(event) => setDescription(event.currentTarget.value)}
              />
            </Stack>
          </Card>
          <Card>
            <Group justify="space-between" mb="sm">
              <Title order={2} size="h5">
                {text.form.filter}
              </Title>
              <FilterJson filter={filter} onPaste={form.reset} />
            </Group>
            <FilterBuilder form={form} />
          </Card>
          {saving.isError ? (
            <Alert color="red" role="alert" title={text.form.notSaved}>
              {messageOf(saving.error)}
            </Alert>
          ) : null}
          <Group gap="xs">
            <Button type="submit" loading={saving.isPending} disabled={name.trim() === '' || unfinished > 0}>
              {segment ? text.form.save : text.form.create}
            </Button>
            <Button
              variant="default"
              onClick={() =>
                segment
                  ? navigate({ to: '/segments/$segmentId', params: { segmentId: segment.segment_id } })
                  : navigate({ to: '/segments' })
              }
            >
              {text.form.cancel}
            </Button>
          </Group>
        </Form>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <PreviewPanel entity={entity} filter={filter} unfinished={unfinished} />
      </Grid.Col>
    </Grid>
  )
}
