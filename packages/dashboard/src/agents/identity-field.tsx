import { Button, Group, Input, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Identity } from '../api/types.ts'
import { identityName } from '../identities/identity-name.ts'
import { FindField, FOUND_MAX } from '../ui/find-field.tsx'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

interface IdentityFieldProps {
  /** Empty for none. */
  identityId: string
  onChange: (identityId: string) => void
}

/** The sender of emails and messages. There may be thousands, so it is chosen by search. */
export function IdentityField({ identityId, onChange }: IdentityFieldProps) {
  if (identityId !== '') return <ChosenIdentity identityId={identityId} onRemove={() => onChange('')} />
  return (
    <FindField
      label={text.allowed.identity}
      placeholder={text.allowed.identityPlaceholder}
      what={text.allowed.identities}
      useFound={useFoundIdentities}
      offersAll
      keyOf={({ identity_id }) => identity_id}
      nameOf={identityChoice}
      onChoose={({ identity_id }) => onChange(identity_id)}
    />
  )
}

function ChosenIdentity({ identityId, onRemove }: { identityId: string; onRemove: () => void }) {
  const { data, isError } = useQuery(queryOf('getIdentity', { identity_id: identityId }))
  return (
    <Input.Wrapper label={text.allowed.identity} labelElement="div">
      <Group gap="xs">
        <Text size="sm">
          <Foreign max={120}>{data ? identityChoice(data.identity) : isError ? identityId : '…'}</Foreign>
        </Text>
        <Button variant="default" size="compact-xs" onClick={onRemove} aria-label={text.allowed.changeIdentity}>
          {text.allowed.change}
        </Button>
      </Group>
    </Input.Wrapper>
  )
}

function useFoundIdentities(search: string) {
  const { data, isFetching, error, refetch } = useQuery(
    queryOf('listIdentities', { limit: FOUND_MAX, search: search || undefined }),
  )
  return { items: data?.identities, isFetching, error, refetch }
}

function identityChoice(identity: Identity): string {
  const { address } = identity.email_account
  return `${identityName(identity).slice(0, 80)}${address === null ? '' : ` <${address}>`}`
}
