import { Alert, Button, Card, Group, PasswordInput, Radio, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Hook } from '../api/types.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { HeaderField } from './hook-dialogs.tsx'
import { urlKey } from './hook-queries.ts'
import { text } from './text.ts'

const words = text.create
const KINDS = Object.keys(text.kinds) as Hook['kind'][]

/** Creates an incoming webhook, and opens its page with the URL. */
export function NewHookPage() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [kind, setKind] = useState<Hook['kind']>('custom')
  const [name, setName] = useState<string | null>(null)
  const [secret, setSecret] = useState('')
  const [header, setHeader] = useState('')
  const saving = useOperation('createHook', {
    onDone: async ({ hook: { hook_id, name: given }, url }) => {
      queryClient.setQueryData(urlKey(hook_id), { hook_id, name: given, url })
      await navigate({ to: '/hooks/$hookId', params: { hookId: hook_id }, replace: true })
    },
  })
  const shownName = name ?? (kind === 'custom' ? '' : text.kinds[kind])
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    saving.mutate({
      name: shownName.trim(),
      kind,
      ...(secret.trim() === '' ? {} : { signing_secret: secret.trim() }),
      ...(kind === 'custom' && header.trim() !== '' ? { signature_header: header.trim() } : {}),
    })
  }
  const breadcrumb = (
    <AnchorLink inherit to="/hooks">
      {text.title}
    </AnchorLink>
  )
  return (
    <>
      <PageHeader title={words.title} breadcrumb={breadcrumb} />
      <Card component="form" onSubmit={submit} maw={720}>
        <Stack gap="md">
          <Radio.Group label={words.kind} value={kind} onChange={(value) => setKind(value as Hook['kind'])}>
            <Stack gap="xs" mt="xs">
              {KINDS.map((each) => (
                <Radio key={each} value={each} label={text.kinds[each]} description={words.kindDescriptions[each]} />
              ))}
            </Stack>
          </Radio.Group>
          <TextInput
            label={words.name}
            description={words.nameDescription}
            required
            {...upTo(200)}
            value={shownName}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <PasswordInput
            label={words.secret}
            description={words.secretDescriptions[kind]}
            autoComplete="off"
            {...upTo(500)}
            value={secret}
            onChange={(event) => setSecret(event.currentTarget.value)}
          />
          {kind === 'custom' && secret !== '' ? <HeaderField value={header} onChange={setHeader} /> : null}
          {saving.isError ? (
            <Alert color="red" role="alert" title={words.failed}>
              {messageOf(saving.error)}
            </Alert>
          ) : null}
          <Group gap="xs">
            <Button type="submit" loading={saving.isPending}>
              {words.submit}
            </Button>
            <ButtonLink variant="default" to="/hooks">
              {words.cancel}
            </ButtonLink>
          </Group>
        </Stack>
      </Card>
    </>
  )
}
