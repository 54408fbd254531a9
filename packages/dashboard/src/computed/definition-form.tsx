import { Alert, Button, Card, Fieldset, Group, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { ComputedProperty, Entity } from '../api/types.ts'
import { useFields } from '../filters/fields.ts'
import { Form } from '../ui/form.tsx'
import { Outcome } from '../ui/settings-part.tsx'
import { messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import {
  type DefinitionDraft,
  definitionDraft,
  definitionOf,
  isComplete,
  newDefinition,
  newRule,
} from './definition-draft.ts'
import { FunctionFields } from './function-fields.tsx'
import { ScoreFields } from './score-fields.tsx'
import { text } from './text.ts'

const words = text.form

const KINDS: { value: DefinitionDraft['kind']; label: string }[] = [
  { value: 'score', label: words.kinds.score },
  { value: 'function', label: words.kinds.function },
]
const ENTITIES: { value: Entity; label: string }[] = [
  { value: 'contacts', label: text.list.entities.contacts },
  { value: 'companies', label: text.list.entities.companies },
]

interface DefinitionFormProps {
  /** The property to change; absent for a new one. */
  computed?: ComputedProperty
  isReadOnly?: boolean
}

/** What a property is, and how it is computed. */
export function DefinitionForm({ computed, isReadOnly = false }: DefinitionFormProps) {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(() => (computed ? definitionDraft(computed) : newDefinition()))
  const change = (changes: Partial<DefinitionDraft>) => setDraft((before) => ({ ...before, ...changes }))
  // What conditions can name; until then, there is little to choose from.
  const { isLoading } = useQuery(queryOf('listProperties', { entity: draft.entity }))
  const records = useFields(draft.entity).types
  const events = useFields('events-of-contact', draft.event).types
  const creating = useOperation('createComputedProperty', {
    onDone: () => navigate({ to: '/settings/computed-properties' }),
  })
  const updating = useOperation('updateComputedProperty')
  const saving = computed ? updating : creating
  const submit = () => {
    const definition = definitionOf(draft, { records, events })
    if (computed) updating.mutate({ computed_property_id: computed.computed_property_id, ...definition })
    else creating.mutate({ name: draft.name.trim(), entity: draft.entity, ...definition })
  }
  return (
    <Card component="section" aria-label={words.label} aria-busy={isLoading}>
      <Form onSubmit={() => !saving.isPending && submit()}>
        <Fieldset variant="unstyled" disabled={isReadOnly}>
          <Stack gap="sm">
            {computed ? null : <Choices draft={draft} onChange={change} />}
            {draft.kind === 'score' ? (
              <ScoreFields entity={draft.entity} rules={draft.rules} onChange={(rules) => change({ rules })} />
            ) : (
              <FunctionFields draft={draft} onChange={change} />
            )}
          </Stack>
        </Fieldset>
        {saving.error ? (
          <Alert color="red" role="alert" title={words.notSaved}>
            {messageOf(saving.error)}
          </Alert>
        ) : null}
        <Outcome error={null} success={updating.isSuccess ? words.saved : null} />
        {isReadOnly ? null : (
          <Group gap="xs">
            <Button type="submit" loading={saving.isPending} disabled={!isComplete(draft)}>
              {computed ? words.save : words.create}
            </Button>
            <Button variant="default" onClick={() => navigate({ to: '/settings/computed-properties' })}>
              {words.cancel}
            </Button>
          </Group>
        )}
      </Form>
    </Card>
  )
}

interface ChoicesProps {
  draft: DefinitionDraft
  onChange: (changes: Partial<DefinitionDraft>) => void
}

/** What cannot be changed later. */
function Choices({ draft: { name, kind, entity }, onChange }: ChoicesProps) {
  return (
    <>
      <Group gap="sm">
        <SegmentedControl
          aria-label={words.kind}
          value={kind}
          onChange={(chosen) => onChange({ kind: chosen })}
          data={KINDS}
        />
        <SegmentedControl
          aria-label={words.entity}
          value={entity}
          // What conditions on the one can name, those on the other cannot.
          onChange={(chosen) => onChange({ entity: chosen, rules: [newRule()] })}
          data={ENTITIES}
        />
      </Group>
      <TextInput
        label={words.name}
        description={words.nameHint}
        required
        {...upTo(128)}
        maw={420}
        value={name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
    </>
  )
}
