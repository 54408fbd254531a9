import { Button, TagsInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { refreshTenant, setPersonalProperties, tenantQuery } from '../api/tenant.ts'
import { Form } from '../ui/form.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Outcome, SettingsPart } from './settings-part.tsx'
import { text } from './text.ts'

const NAMES_MAX = 200
const NAME_LENGTH_MAX = 100

/** The properties that are hidden from AI agents, besides those that are personal in every workspace. */
export function PersonalProperties() {
  const { data: tenant, error, refetch } = useQuery(tenantQuery)
  return (
    <SettingsPart title={text.workspace.personal.title}>
      {error && !tenant ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !tenant ? <LoadingState lines={2} /> : null}
      {tenant ? <Names saved={tenant.personal_properties} /> : null}
    </SettingsPart>
  )
}

function Names({ saved }: { saved: string[] }) {
  const queryClient = useQueryClient()
  const [names, setNames] = useState(saved)
  const saving = useMutation({
    mutationFn: () => setPersonalProperties(names),
    onSuccess: () => refreshTenant(queryClient),
  })
  const isSaved = names.length === saved.length && names.every((name, index) => name === saved[index])
  return (
    <Form gap="sm" align="flex-start" maw={560} onSubmit={() => saving.mutate()}>
      <TagsInput
        label={text.workspace.personal.label}
        description={text.workspace.personal.description}
        placeholder={names.length === 0 ? text.workspace.personal.placeholder : ''}
        w="100%"
        value={names}
        onChange={(chosen) => {
          setNames(chosen.map((name) => name.trim().slice(0, NAME_LENGTH_MAX)).filter((name) => name !== ''))
          saving.reset()
        }}
        acceptValueOnBlur
        maxTags={NAMES_MAX}
      />
      <Outcome error={saving.error} success={saving.isSuccess ? text.workspace.personal.saved : null} />
      <Button type="submit" variant="default" loading={saving.isPending} disabled={isSaved}>
        {text.workspace.personal.save}
      </Button>
    </Form>
  )
}
