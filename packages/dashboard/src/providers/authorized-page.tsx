import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ApiError, call } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import type { CompleteAuthorizationInput } from '../api/types.ts'
import { forgetQuery, keptQuery } from '../session/kept-query.ts'
import { EntryFrame } from '../sign-in/entry-frame.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { LoadingState } from '../ui/states.tsx'
import { startPage } from './start-page.ts'
import { text } from './text.ts'

/** The parameters that the provider may add to the redirect URL. */
const REDIRECTED = ['state', 'code', 'iss', 'error', 'error_description']

function completionOf(query: string): CompleteAuthorizationInput {
  const sent = [...new URLSearchParams(query)].filter(([name]) => REDIRECTED.includes(name))
  return Object.fromEntries(sent) as CompleteAuthorizationInput
}

/** The redirect page: completes the sign-in, then opens the connected mailbox or system. */
export function AuthorizedPage() {
  const { history } = useRouter()
  const [query] = useState(() => keptQuery('/authorized'))
  const { data, error } = useQuery({
    ...queryOf('completeAuthorization', completionOf(query)),
    // It works only once, so the request is neither repeated nor cancelled, and its result is kept.
    queryFn: () => call('completeAuthorization', completionOf(query)),
    enabled: query !== '',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  useEffect(() => {
    if (!data) return
    forgetQuery('/authorized')
    history.replace(data.path)
  }, [data, history])
  // A person who is not signed in is being redirected to the sign-in page.
  const failure = error instanceof ApiError && error.status === 401 ? null : error
  if (failure === null && query !== '') {
    return (
      <EntryFrame title={text.authorized.title}>
        <LoadingState lines={2} />
      </EntryFrame>
    )
  }
  const isOfAnother = failure instanceof ApiError && failure.code === 'authorization_of_another'
  return (
    <EntryFrame title={text.authorized.failed} error={failure}>
      <Stack gap="md">
        {failure === null ? <Text size="sm">{text.authorized.empty}</Text> : null}
        {isOfAnother ? <Elsewhere query={query} /> : null}
        <Button variant="default" onClick={() => history.push(startPage())} fullWidth>
          {text.authorized.back}
        </Button>
      </Stack>
    </EntryFrame>
  )
}

/** A sign-in from the command line ends in a browser, which cannot complete it. */
function Elsewhere({ query }: { query: string }) {
  const values = new URLSearchParams(query)
  const options = ['state', 'code'].map((name) => `--${name} '${(values.get(name) ?? '').replaceAll("'", '')}'`)
  const command = ['cdsctl authorization complete --tenant ID', ...options].join(' ')
  return (
    <Stack gap={4}>
      <Text size="sm">{text.authorized.elsewhere}</Text>
      <Group gap={6} wrap="nowrap" align="flex-start">
        <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {command}
        </Code>
        <CopyButton value={command} label={text.authorized.copy} />
      </Group>
    </Stack>
  )
}
