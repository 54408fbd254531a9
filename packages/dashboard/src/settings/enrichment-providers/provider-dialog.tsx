import { Input, NativeSelect, NumberInput, PasswordInput, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../../api/operation.ts'
import type { EnrichmentProvider } from '../../api/types.ts'
import { FieldRows } from '../../ui/field-rows.tsx'
import { FormDialog, NameField } from '../../ui/form-dialog.tsx'
import { upTo } from '../../ui/up-to.ts'
import { type Draft, draftOf, NEW, settingsOf } from './draft.ts'
import { text } from './text.ts'

const words = text.fields
const KINDS = ['hunter', 'people_data_labs', 'http'] as const

/** The form for a new provider. */
export function NewProviderDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(NEW)
  const creating = useOperation('createEnrichmentProvider', { onDone: onClose })
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  // The name of a known service is offered, and can be changed.
  const name = draft.name === '' && draft.kind !== 'http' ? text.kinds[draft.kind] : draft.name
  return (
    <FormDialog
      title={text.create.title}
      submit={text.create.submit}
      size="lg"
      sending={creating}
      onSubmit={() => creating.mutate({ kind: draft.kind, ...settingsOf({ ...draft, name }) })}
      onClose={onClose}
    >
      <NativeSelect
        label={words.kind}
        data={KINDS.map((value) => ({ value, label: text.kinds[value] }))}
        value={draft.kind}
        onChange={(event) => change({ kind: event.currentTarget.value as Draft['kind'] })}
      />
      <NameField value={name} onChange={(typed) => change({ name: typed })} />
      <ProviderFields draft={draft} change={change} isNew />
    </FormDialog>
  )
}

/** Changes a provider. */
export function EditProviderDialog({ provider, onClose }: { provider: EnrichmentProvider; onClose: () => void }) {
  const [draft, setDraft] = useState(() => draftOf(provider))
  const saving = useOperation('updateEnrichmentProvider', { onDone: onClose })
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  const { provider_id, secret_names: before } = provider
  return (
    <FormDialog
      title={text.edit.title}
      submit={text.edit.submit}
      size="lg"
      sending={saving}
      onSubmit={() => saving.mutate({ provider_id, ...settingsOf(draft, before) })}
      onClose={onClose}
    >
      <NameField value={draft.name} onChange={(name) => change({ name })} />
      <ProviderFields draft={draft} change={change} isNew={false} />
    </FormDialog>
  )
}

interface FieldsProps {
  draft: Draft
  change: (changes: Partial<Draft>) => void
  isNew: boolean
}

function ProviderFields({ draft, change, isNew }: FieldsProps) {
  return (
    <>
      {draft.kind === 'http' ? (
        <RequestFields draft={draft} change={change} />
      ) : (
        <PasswordInput
          label={words.key}
          description={isNew ? undefined : words.keyKept}
          required={isNew}
          autoComplete="off"
          value={draft.key}
          onChange={(event) => change({ key: event.currentTarget.value })}
        />
      )}
      <NumberInput
        label={words.budget}
        description={words.budgetDescription}
        min={1}
        allowDecimal={false}
        value={draft.budget}
        onChange={(value) => change({ budget: String(value) })}
      />
    </>
  )
}

function RequestFields({ draft, change }: Omit<FieldsProps, 'isNew'>) {
  return (
    <>
      <TextInput
        label={words.url}
        description={words.urlDescription}
        required
        {...upTo(2_000)}
        value={draft.url}
        onChange={(event) => change({ url: event.currentTarget.value })}
      />
      <Input.Label component="div">{words.headers}</Input.Label>
      <FieldRows
        rows={draft.headers}
        onChange={(headers) => change({ headers })}
        newRow={() => ({ name: '', value: '' })}
        addLabel={words.addHeader}
        removeLabel={words.removeHeader}
      >
        {(row, number, changeRow) => (
          <>
            <TextInput
              aria-label={words.headerName(number)}
              value={row.name}
              onChange={(event) => changeRow({ name: event.currentTarget.value })}
            />
            <TextInput
              flex={1}
              aria-label={words.headerValue(number)}
              value={row.value}
              onChange={(event) => changeRow({ value: event.currentTarget.value })}
            />
          </>
        )}
      </FieldRows>
      <Input.Label component="div">{words.secrets}</Input.Label>
      <Text size="xs" c="dimmed">
        {words.secretsDescription}
      </Text>
      <FieldRows
        rows={draft.secrets}
        onChange={(secrets) => change({ secrets })}
        newRow={() => ({ name: '', value: '' })}
        addLabel={words.addSecret}
        removeLabel={words.removeSecret}
      >
        {(row, number, changeRow) => (
          <>
            <TextInput
              aria-label={words.secretName(number)}
              value={row.name}
              onChange={(event) => changeRow({ name: event.currentTarget.value })}
            />
            <PasswordInput
              flex={1}
              aria-label={words.secretValue(number)}
              autoComplete="off"
              value={row.value}
              onChange={(event) => changeRow({ value: event.currentTarget.value })}
            />
          </>
        )}
      </FieldRows>
      <Input.Label component="div">{words.mapping}</Input.Label>
      <Text size="xs" c="dimmed">
        {draft.rows === null ? words.mappingByApi : words.mappingDescription}
      </Text>
      {draft.rows === null ? null : (
        <FieldRows
          rows={draft.rows}
          onChange={(rows) => change({ rows })}
          newRow={() => ({ target: '', path: '' })}
          addLabel={words.addRow}
          removeLabel={words.removeRow}
        >
          {(row, number, changeRow) => (
            <>
              <TextInput
                flex={1}
                aria-label={words.target(number)}
                placeholder={words.targetExample}
                value={row.target}
                onChange={(event) => changeRow({ target: event.currentTarget.value })}
              />
              <TextInput
                flex={1}
                aria-label={words.path(number)}
                placeholder={words.pathExample}
                value={row.path}
                onChange={(event) => changeRow({ path: event.currentTarget.value })}
              />
            </>
          )}
        </FieldRows>
      )}
    </>
  )
}
