import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  Modal,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { verifyCode } from '../session/session.ts'
import { codeMessage } from '../sign-in/code-form.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Form, FormError } from '../ui/form.tsx'
import { QrImage } from '../ui/qr-image.tsx'
import { SettingsPart } from '../ui/settings-part.tsx'
import { disableTwoFactor, enableTwoFactor, newBackupCodes, refreshMe } from './account.ts'
import { text } from './text.ts'

type Step =
  | { kind: 'begin' | 'end' | 'renew' }
  | { kind: 'scan'; url: string; codes: string[] }
  | { kind: 'codes'; codes: string[] }

/** Turns two-factor authentication on and off, and renews the backup codes. Each step requires the password. */
export function TwoFactor({ isOn }: { isOn: boolean }) {
  const queryClient = useQueryClient()
  const [step, setStep] = useState<Step | null>(null)
  const close = () => setStep(null)
  const refresh = () => refreshMe(queryClient)
  // A click outside must not close the dialog before the codes are saved.
  const isShown = step?.kind === 'codes'
  return (
    <SettingsPart
      title={
        <Group gap="xs">
          {`${text.twoFactor.title} `}
          {isOn ? <Badge color="green">{text.twoFactor.on}</Badge> : <Badge color="gray">{text.twoFactor.off}</Badge>}
        </Group>
      }
    >
      <Text size="sm">{isOn ? text.twoFactor.explanation.on : text.twoFactor.explanation.off}</Text>
      <Group gap="xs">
        {isOn ? (
          <>
            <Button variant="default" onClick={() => setStep({ kind: 'renew' })}>
              {text.twoFactor.renew}
            </Button>
            <Button variant="default" onClick={() => setStep({ kind: 'end' })}>
              {text.twoFactor.turnOff}
            </Button>
          </>
        ) : (
          <Button onClick={() => setStep({ kind: 'begin' })}>{text.twoFactor.setUp}</Button>
        )}
      </Group>
      <Modal
        opened={step !== null}
        onClose={close}
        title={step ? text.twoFactor.titles[step.kind] : ''}
        closeOnClickOutside={!isShown}
        closeOnEscape={!isShown}
        withCloseButton={!isShown}
      >
        {step?.kind === 'begin' ? (
          <PasswordStep
            confirmLabel={text.twoFactor.continue}
            onPassword={async (password) => {
              const { totpURI, backupCodes } = await enableTwoFactor(password)
              setStep({ kind: 'scan', url: totpURI, codes: backupCodes })
            }}
          />
        ) : null}
        {step?.kind === 'scan' ? (
          <ScanStep
            url={step.url}
            onVerified={async () => {
              setStep({ kind: 'codes', codes: step.codes })
              await refresh()
            }}
          />
        ) : null}
        {step?.kind === 'codes' ? <BackupCodes codes={step.codes} onDone={close} /> : null}
        {step?.kind === 'renew' ? (
          <PasswordStep
            explanation={text.twoFactor.renewExplanation}
            confirmLabel={text.twoFactor.createCodes}
            onPassword={async (password) => {
              const { backupCodes } = await newBackupCodes(password)
              setStep({ kind: 'codes', codes: backupCodes })
            }}
          />
        ) : null}
        {step?.kind === 'end' ? (
          <PasswordStep
            explanation={text.twoFactor.endExplanation}
            confirmLabel={text.twoFactor.turnOff}
            isDangerous
            onPassword={async (password) => {
              await disableTwoFactor(password)
              await refresh()
              close()
            }}
          />
        ) : null}
      </Modal>
    </SettingsPart>
  )
}

interface PasswordStepProps {
  explanation?: string
  confirmLabel: string
  isDangerous?: boolean
  onPassword: (password: string) => Promise<void>
}

function PasswordStep({ explanation, confirmLabel, isDangerous = false, onPassword }: PasswordStepProps) {
  const [password, setPassword] = useState('')
  const going = useMutation({ mutationFn: () => onPassword(password) })
  return (
    <Form onSubmit={() => going.mutate()}>
      {explanation === undefined ? null : <Text size="sm">{explanation}</Text>}
      <PasswordInput
        label={text.twoFactor.password}
        autoComplete="current-password"
        required
        withAsterisk={false}
        data-autofocus
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': text.twoFactor.showPassword, tabIndex: 0, 'aria-hidden': false }}
      />
      <FormError error={going.error} />
      <Button type="submit" ml="auto" loading={going.isPending} {...(isDangerous ? { color: 'red' } : {})}>
        {confirmLabel}
      </Button>
    </Form>
  )
}

function ScanStep({ url, onVerified }: { url: string; onVerified: () => Promise<void> }) {
  const [code, setCode] = useState('')
  const checking = useMutation({
    mutationFn: () => verifyCode(code.replaceAll(' ', ''), 'totp'),
    onSuccess: onVerified,
  })
  const secret = new URL(url).searchParams.get('secret') ?? ''
  return (
    <Form onSubmit={() => checking.mutate()}>
      <Text size="sm">{text.twoFactor.scan}</Text>
      <Stack align="center">
        <QrImage text={url} label={text.twoFactor.qrCode} />
      </Stack>
      <Stack gap={4}>
        <Text size="sm" c="dimmed">
          {text.twoFactor.secret}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Code style={{ overflowWrap: 'anywhere' }}>{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</Code>
          <CopyButton value={secret} label={text.twoFactor.copySecret} />
        </Group>
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {text.twoFactor.url}
          </Text>
          <CopyButton value={url} label={text.twoFactor.copyUrl} />
        </Group>
      </Stack>
      <TextInput
        label={text.twoFactor.code}
        required
        withAsterisk={false}
        autoComplete="one-time-code"
        inputMode="numeric"
        autoFocus
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      {checking.isError ? (
        <Alert color="red" role="alert">
          {codeMessage(checking.error)}
        </Alert>
      ) : null}
      <Button type="submit" ml="auto" loading={checking.isPending}>
        {text.twoFactor.turnOn}
      </Button>
    </Form>
  )
}

function BackupCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <Stack gap="md">
      <Text size="sm" role="status">
        {text.twoFactor.saveCodes}
      </Text>
      <SimpleGrid cols={2} spacing="xs" verticalSpacing="xs" component="ul" m={0} p={0}>
        {codes.map((code) => (
          <Code component="li" key={code} display="block" ta="center" py={6}>
            {code}
          </Code>
        ))}
      </SimpleGrid>
      <Group justify="space-between">
        <CopyButton value={codes.join('\n')} label={text.twoFactor.copyCodes} withText />
        <Button onClick={onDone} autoFocus>
          {text.twoFactor.saved}
        </Button>
      </Group>
    </Stack>
  )
}
