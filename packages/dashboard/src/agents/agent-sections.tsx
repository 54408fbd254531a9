import {
  Alert,
  Card,
  Checkbox,
  Group,
  NumberInput,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf } from '../api/operation.ts'
import { AnchorLink } from '../ui/link.tsx'
import { upTo } from '../ui/up-to.ts'
import { ACTION_WORDS } from './action-words.ts'
import { AudienceFields } from './audience-fields.tsx'
import { IdentityField } from './identity-field.tsx'
import { ModelFields } from './model-fields.tsx'
import { PlaybookFields } from './playbook-fields.tsx'
import { ScheduleFields } from './schedule-fields.tsx'
import { TemplateChoice } from './template-choice.tsx'
import { text } from './text.ts'
import { EventFields, TriggerFields } from './trigger-fields.tsx'
import type { AgentFields } from './use-agent-fields.ts'

const OUTREACH = ['email', 'social', 'linkedin']
/** Another name of `social`: shown only for an agent that uses it. */
const ALIAS = 'linkedin'

interface SectionProps {
  fields: AgentFields
}

export function TemplateSection({ fields: { draft, change, playbooks, chooseTemplate } }: SectionProps) {
  return (
    <>
      <Section title={text.template.title} description={text.template.description}>
        <TemplateChoice templates={playbooks.templates} value={draft.template} onChange={chooseTemplate} />
      </Section>
      <Section title={text.template.name}>
        <TextInput
          label={text.template.name}
          required
          {...upTo(200)}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <Textarea
          label={text.template.nameDescription}
          autosize
          minRows={1}
          maxRows={6}
          {...upTo(5_000)}
          value={draft.description}
          onChange={(event) => change({ description: event.currentTarget.value })}
        />
      </Section>
    </>
  )
}

export function AudienceSection({ fields }: SectionProps) {
  return (
    <Section title={text.audience.title}>
      <AudienceFields draft={fields.draft} onChange={fields.change} audience={fields.audience} />
    </Section>
  )
}

export function InstructionsSection({ fields: { draft, change, playbooks } }: SectionProps) {
  return (
    <>
      <Section title={text.model.title}>
        <ModelFields draft={draft} playbooks={playbooks} onChange={change} />
      </Section>
      <Section title={text.instructions.title}>
        <PlaybookFields draft={draft} playbooks={playbooks} onChange={change} />
      </Section>
    </>
  )
}

export function AllowedSection({ fields: { draft, change, playbooks } }: SectionProps) {
  const reachesOut = draft.capabilities.some((name) => OUTREACH.includes(name))
  const offered = playbooks.capabilities.filter(({ name }) => name !== ALIAS || draft.capabilities.includes(name))
  return (
    <Section title={text.allowed.title}>
      <Checkbox.Group
        label={text.allowed.label}
        value={draft.capabilities}
        onChange={(capabilities) => change({ capabilities })}
      >
        <Stack gap={8} mt={4}>
          {offered.map(({ name, types }) => (
            <Checkbox
              key={name}
              value={name}
              label={text.allowed.capabilities[name] ?? name}
              description={types.map((type) => ACTION_WORDS[type].label).join(', ')}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <IdentityField identityId={draft.identityId} onChange={(identityId) => change({ identityId })} />
      {reachesOut && draft.identityId === '' ? (
        <Alert color="orange" variant="light" role="note">
          {text.allowed.noIdentity}
        </Alert>
      ) : null}
      {draft.capabilities.includes('email') && draft.identityId !== '' ? (
        <MailboxWarning identityId={draft.identityId} />
      ) : null}
      <Switch
        label={text.allowed.approval}
        description={text.allowed.approvalHint}
        checked={draft.requiresApproval}
        onChange={(event) => change({ requiresApproval: event.currentTarget.checked })}
      />
    </Section>
  )
}

export function ScheduleSection({ fields: { draft, change, playbooks } }: SectionProps) {
  return (
    <Section title={text.schedule.title} description={text.schedule.description}>
      <ScheduleFields cron={draft.cron} timeZone={draft.timeZone} onChange={change} />
      <Title order={3} size="h6">
        {text.triggers.title}
      </Title>
      <Text size="sm" c="dimmed">
        {text.triggers.description}
      </Text>
      <TriggerFields draft={draft} onChange={change} />
      <Group grow align="flex-start">
        <NumberInput
          label={text.schedule.maxContacts}
          min={playbooks.max_contacts.min}
          max={playbooks.max_contacts.max}
          allowDecimal={false}
          value={draft.maxContacts}
          onChange={(maxContacts) => change({ maxContacts })}
        />
        <NumberInput
          label={text.schedule.maxCost}
          min={0}
          max={100_000}
          decimalScale={2}
          value={draft.maxCost}
          onChange={(maxCost) => change({ maxCost })}
          placeholder={text.schedule.noCap}
        />
      </Group>
    </Section>
  )
}

export function GoalSection({ fields: { draft, change } }: SectionProps) {
  return (
    <Section title={text.goal.title} description={text.goal.description}>
      <EventFields label={text.goal.event} draft={draft.goal} onChange={(goal) => change({ goal })} />
    </Section>
  )
}

/** Says so where the agent could not send what it proposes. */
function MailboxWarning({ identityId }: { identityId: string }) {
  const { data } = useQuery(queryOf('getIdentity', { identity_id: identityId }))
  if (!data || data.identity.email_account.address !== null) return null
  return (
    <Alert color="orange" variant="light" role="note">
      {text.allowed.noMailbox}{' '}
      <AnchorLink inherit underline="always" to="/identities/$identityId" params={{ identityId }}>
        {text.allowed.connectMailbox}
      </AnchorLink>
    </Alert>
  )
}

interface CardProps {
  title: string
  description?: string
  children: ReactNode
}

/** A part of the form. */
export function Section({ title, description, children }: CardProps) {
  return (
    <Card>
      <Title order={2} size="h5">
        {title}
      </Title>
      {description === undefined ? null : (
        <Text size="sm" c="dimmed">
          {description}
        </Text>
      )}
      <Stack gap="sm" mt="sm">
        {children}
      </Stack>
    </Card>
  )
}
