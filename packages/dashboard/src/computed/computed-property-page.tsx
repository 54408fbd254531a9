import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { ComputedProperty } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, isolated } from '../ui/text.tsx'
import { DefinitionForm } from './definition-form.tsx'
import { DefinitionWords } from './definition-words.tsx'
import { text } from './text.ts'
import { Users } from './users.tsx'

const words = text.property
const route = getRouteApi('/shell/settings/computed-properties/$id')

/** A computed property: its definition, and how to change or delete it. */
export function ComputedPropertyPage() {
  const { id } = route.useParams()
  const { data, error, refetch } = useQuery(queryOf('getComputedProperty', { computed_property_id: id }))
  const computed = data?.computed_property
  const mayWrite = useMay('contacts:write')
  return (
    <>
      <PageHeader
        title={computed ? <Foreign max={120}>{computed.name}</Foreign> : words.one}
        documentTitle={computed?.name.slice(0, 120) ?? words.one}
        description={computed ? <DefinitionWords computed={computed} /> : null}
        breadcrumb={
          <AnchorLink inherit to="/settings/computed-properties">
            {text.form.breadcrumb}
          </AnchorLink>
        }
        actions={computed && mayWrite ? <Remove computed={computed} /> : null}
      />
      {error && !computed ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !computed ? <LoadingState lines={8} /> : null}
      {computed && !mayWrite ? (
        <Text size="sm" mb="sm">
          {words.readOnly}
        </Text>
      ) : null}
      {computed ? (
        <DefinitionForm key={computed.computed_property_id} computed={computed} isReadOnly={!mayWrite} />
      ) : null}
    </>
  )
}

function Remove({ computed: { computed_property_id: id, name, entity } }: { computed: ComputedProperty }) {
  const navigate = useNavigate()
  const removing = useOperation('deleteComputedProperty', {
    onDone: () => navigate({ to: '/settings/computed-properties' }),
  })
  return (
    <ConfirmButton
      title={words.removeTitle(isolated(name.slice(0, 80)))}
      explanation={
        <Stack gap="xs">
          <Text size="sm">{words.removeHint(text.list.entities[entity].toLowerCase())}</Text>
          <Users name={name} entity={entity} />
        </Stack>
      }
      confirmLabel={words.remove}
      onConfirm={() => removing.mutateAsync({ computed_property_id: id })}
    >
      {words.remove}
    </ConfirmButton>
  )
}
