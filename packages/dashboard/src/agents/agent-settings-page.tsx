import {
  Alert,
  Autocomplete,
  Button,
  Card,
  Group,
  NumberInput,
  Progress,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { AgentSettings } from '../api/types.ts'
import { useIsAtLeast } from '../session/may.ts'
import { TIME_ZONES } from '../session/time-zone.ts'
import { Form } from '../ui/form.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { formatCost } from './run-state.tsx'
import { text } from './text.ts'

/** The rules for all agents. */
export function AgentSettingsPage() {
  const { data, error, refetch } = useQuery(queryOf('getAgentSettings'))
  return (
    <>
      <PageHeader
        title={text.settings.title}
        description={text.settings.description}
        breadcrumb={
          <AnchorLink inherit to="/agents">
            {text.title}
          </AnchorLink>
        }
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={8} /> : null}
      {data ? <SettingsForm settings={data.settings} cost={data.cost_this_month_usd} /> : null}
    </>
  )
}

function SettingsForm({ settings, cost }: { settings: AgentSettings; cost: number }) {
  const isAdmin = useIsAtLeast('admin')
  const [draft, setDraft] = useState(() => ({
    interval: settings.outreach_interval_days as number | string,
    pause: settings.reply_pause_days as number | string,
    daily: settings.daily_limit_per_identity as number | string,
    cap: (settings.monthly_cost_cap_usd ?? '') as number | string,
    zone: settings.time_zone,
    isQuiet: settings.quiet_hours !== null,
    from: settings.quiet_hours?.from ?? '20:00',
    to: settings.quiet_hours?.to ?? '08:00',
  }))
  const change = (changes: Partial<typeof draft>) => {
    saving.reset()
    setDraft((before) => ({ ...before, ...changes }))
  }
  const saving = useOperation('updateAgentSettings')
  const submit = () =>
    saving.mutate({
      outreach_interval_days: Number(draft.interval),
      reply_pause_days: Number(draft.pause),
      daily_limit_per_identity: Number(draft.daily),
      monthly_cost_cap_usd: draft.cap === '' ? null : Number(draft.cap),
      time_zone: draft.zone.trim(),
      quiet_hours: draft.isQuiet ? { from: draft.from, to: draft.to } : null,
    })
  return (
    <Form maw={640} onSubmit={submit}>
      <Card component="fieldset" disabled={!isAdmin} style={{ minInlineSize: 0, margin: 0 }}>
        <Stack gap="md">
          <NumberInput
            label={text.settings.interval}
            description={text.settings.intervalHint}
            required
            min={0}
            max={365}
            allowDecimal={false}
            value={draft.interval}
            onChange={(interval) => change({ interval })}
          />
          <NumberInput
            label={text.settings.pause}
            description={text.settings.pauseHint}
            required
            min={0}
            max={365}
            allowDecimal={false}
            value={draft.pause}
            onChange={(pause) => change({ pause })}
          />
          <NumberInput
            label={text.settings.daily}
            required
            min={1}
            max={10_000}
            allowDecimal={false}
            value={draft.daily}
            onChange={(daily) => change({ daily })}
          />
          <Switch
            label={text.settings.quiet}
            description={text.settings.quietHint}
            checked={draft.isQuiet}
            onChange={(event) => change({ isQuiet: event.currentTarget.checked })}
          />
          {draft.isQuiet ? (
            <Group grow>
              <TextInput
                type="time"
                label={text.settings.from}
                required
                value={draft.from}
                onChange={(event) => change({ from: event.currentTarget.value })}
              />
              <TextInput
                type="time"
                label={text.settings.until}
                required
                value={draft.to}
                onChange={(event) => change({ to: event.currentTarget.value })}
              />
            </Group>
          ) : null}
          <Autocomplete
            label={text.settings.zone}
            description={text.settings.zoneHint}
            required
            value={draft.zone}
            onChange={(zone) => change({ zone })}
            data={[...TIME_ZONES]}
            limit={30}
            maxLength={64}
          />
          <NumberInput
            label={text.settings.maxCost}
            description={text.settings.maxCostHint}
            min={0}
            max={1_000_000}
            decimalScale={2}
            value={draft.cap}
            onChange={(cap) => change({ cap })}
          />
          <CostSoFar cost={cost} cap={settings.monthly_cost_cap_usd} />
        </Stack>
      </Card>
      {saving.isError ? (
        <Alert color="red" role="alert" title={text.settings.notSaved}>
          {messageOf(saving.error)}
        </Alert>
      ) : null}
      {isAdmin ? (
        <Group gap="sm">
          <Button type="submit" loading={saving.isPending}>
            {text.settings.save}
          </Button>
          <Text size="sm" c="teal" role="status">
            {saving.isSuccess ? text.settings.saved : ''}
          </Text>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {text.settings.readOnly}
        </Text>
      )}
    </Form>
  )
}

function CostSoFar({ cost, cap }: { cost: number; cap: number | null }) {
  const words = text.settings.soFar(formatCost(cost), cap === null ? null : formatCost(cap))
  return (
    <div>
      <Text size="sm">{words}</Text>
      {cap === null || cap === 0 ? null : (
        <Progress mt={6} value={Math.min(100, (cost / cap) * 100)} aria-label={text.settings.costOfMonth} />
      )}
    </div>
  )
}
