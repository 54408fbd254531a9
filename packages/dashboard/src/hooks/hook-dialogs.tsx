import { Button, Checkbox, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Hook, type HookChanges, refreshHooks, rotateHookToken, updateHook } from '../api/hooks.ts'
import { Form, FormButtons, FormError } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { needsSecret } from './hooks-page.tsx'
import { text } from './text.ts'
import { UrlShown } from './url-shown.tsx'

interface DialogProps {
  hook: Hook
  onClose: () => void
}

function useChange({ hook, onClose }: DialogProps) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async (changes: HookChanges) => {
      await updateHook(hook.hook_id, changes)
      await refreshHooks(queryClient)
    },
    onSuccess: onClose,
  })
}

export function RenameDialog({ hook, onClose }: DialogProps) {
  const [name, setName] = useState(hook.name)
  const renaming = useChange({ hook, onClose })
  return (
    <Modal opened onClose={onClose} title={text.rename.title}>
      <Form onSubmit={() => renaming.mutate({ name: name.trim() })}>
        <TextInput
          label={text.rename.name}
          required
          {...upTo(200)}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <FormError error={renaming.error} />
        <FormButtons
          submit={text.rename.submit}
          cancel={text.rename.cancel}
          isPending={renaming.isPending}
          onCancel={onClose}
        />
      </Form>
    </Modal>
  )
}

/** Sets or replaces the signing secret. A hook that was waiting for it is turned on. */
export function SecretDialog({ hook, onClose }: DialogProps) {
  const isCustom = hook.kind === 'custom'
  const [secret, setSecret] = useState('')
  const [header, setHeader] = useState(hook.signature_header ?? '')
  const saving = useChange({ hook, onClose })
  const isWaiting = needsSecret(hook)
  const submit = () =>
    saving.mutate({
      signing_secret: secret.trim(),
      ...(isCustom ? { signature_header: header.trim() } : {}),
      ...(isWaiting ? { enabled: true } : {}),
    })
  return (
    <Modal opened onClose={onClose} title={text.secret.title}>
      <Form onSubmit={submit}>
        <PasswordInput
          label={text.secret.label}
          description={text.secret.description}
          required
          autoComplete="off"
          {...upTo(500)}
          data-autofocus
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
        />
        {isCustom ? (
          <TextInput
            label={text.create.header}
            description={text.create.headerDescription}
            required
            placeholder={text.create.headerPlaceholder}
            {...upTo(100)}
            value={header}
            onChange={(event) => setHeader(event.currentTarget.value)}
          />
        ) : null}
        <FormError error={saving.error} />
        {isCustom && hook.has_signing_secret ? (
          <Button
            variant="subtle"
            color="red"
            style={{ alignSelf: 'flex-start' }}
            onClick={() => saving.mutate({ signature_header: null })}
          >
            {text.secret.remove}
          </Button>
        ) : null}
        <FormButtons
          submit={isWaiting ? text.secret.turnOn : text.secret.submit}
          cancel={text.secret.cancel}
          isPending={saving.isPending}
          onCancel={onClose}
        />
      </Form>
    </Modal>
  )
}

/** Replaces the URL of a hook; the new one is shown once. */
export function RotateDialog({ hook, onClose }: DialogProps) {
  const queryClient = useQueryClient()
  const [revokesOld, setRevokesOld] = useState(false)
  const rotating = useMutation({
    mutationFn: () => rotateHookToken(hook.hook_id, revokesOld),
    onSuccess: () => refreshHooks(queryClient),
  })
  const url = rotating.data?.url
  const isMade = url !== undefined
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={isMade ? text.rotate.titleWhenRotated : text.rotate.title}
      // A click outside must not close the dialog before the URL is saved.
      closeOnClickOutside={!isMade}
      closeOnEscape={!isMade}
      withCloseButton={!isMade}
    >
      {isMade ? (
        <Stack gap="md">
          <UrlShown url={url} kind={hook.kind} />
          <Button ml="auto" onClick={onClose} autoFocus>
            {text.rotate.done}
          </Button>
        </Stack>
      ) : (
        <Form onSubmit={() => rotating.mutate()}>
          <Text size="sm">{text.rotate.explanation}</Text>
          <Checkbox
            label={text.rotate.revoke}
            description={text.rotate.revokeDescription}
            checked={revokesOld}
            onChange={(event) => setRevokesOld(event.currentTarget.checked)}
          />
          <FormError error={rotating.error} />
          <FormButtons
            submit={text.rotate.submit}
            cancel={text.rotate.cancel}
            isPending={rotating.isPending}
            onCancel={onClose}
          />
        </Form>
      )}
    </Modal>
  )
}
