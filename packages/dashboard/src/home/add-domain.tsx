import { Alert, Button, Group, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import { useIsAtLeast } from '../session/may.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { hostOf } from '../ui/readable-address.ts'
import { Foreign } from '../ui/text.tsx'
import { text as texts } from './text.ts'

const text = texts.firstSteps.domain
/** The dashboard, and so the service, is on the reader's own computer. */
const IS_LOCAL = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(location.hostname)

/** Adds the first domain. On the reader's own computer, localhost is suggested: it needs no proof. */
export function AddDomain() {
  const isAdmin = useIsAtLeast('admin')
  const [name, setName] = useState(IS_LOCAL ? 'localhost' : '')
  const { data } = useQuery(queryOf('listDomains', { limit: 1 }))
  const adding = useOperation('addDomain')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    adding.mutate({ domain: hostOf(name) })
  }
  const [added] = data?.domains ?? []
  if (!isAdmin) return <Text size="sm">{text.viewer}</Text>
  return (
    <>
      <Text size="sm">{IS_LOCAL ? text.local : text.public}</Text>
      <Group component="form" gap="xs" align="flex-end" onSubmit={submit}>
        <TextInput
          label={text.label}
          placeholder={text.placeholder}
          required
          withAsterisk={false}
          autoCapitalize="off"
          spellCheck={false}
          value={name}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <Button type="submit" loading={adding.isPending}>
          {text.add}
        </Button>
      </Group>
      {adding.isError ? (
        <Alert color="red" role="alert" w="100%">
          <Problem error={adding.error} />
        </Alert>
      ) : null}
      {added ? (
        <Text size="sm">
          <Foreign max={253}>{text.added.before(added.domain)}</Foreign>
          <AnchorLink inherit underline="always" to="/settings/domains">
            {text.added.link}
          </AnchorLink>
          {text.added.after}
        </Text>
      ) : null}
    </>
  )
}
