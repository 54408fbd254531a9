import { Button, Card, Checkbox, Fieldset, Grid, Group, NativeSelect, NumberInput, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Alert, AlertCondition, Report } from '../api/types.ts'
import { Form, FormError } from '../ui/form.tsx'
import { NameField } from '../ui/form-dialog.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { type AlertDraft, draftOf, isShare, newDraft, watchedOf } from './alert-draft.ts'
import { AlertPreview } from './alert-preview.tsx'
import { NumberFields } from './number-fields.tsx'
import { text } from './text.ts'

const words = text.form
/** The service's limits for a page, and for the recipients. */
const LISTED_MAX = 100
const RECIPIENTS_MAX = 20
const OPERATORS = Object.keys(words.operators) as AlertCondition['operator'][]
const EVERY = Object.keys(words.every) as Alert['check_every'][]

interface AlertFormProps {
  /** The alert to change; absent for a new one. */
  alert?: Alert
  /** The report that is watched. */
  report?: Report | undefined
  isReadOnly?: boolean
}

/** Report, number, limit and recipients, with what the alert would have done beside them. */
export function AlertForm({ alert, report: given, isReadOnly = false }: AlertFormProps) {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(() => (alert && given ? draftOf(alert, given) : newDraft(given?.report_id ?? '')))
  const change = (changes: Partial<AlertDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const chosen = useQuery({
    ...queryOf('getReport', { report_id: draft.reportId }),
    enabled: draft.reportId !== '' && draft.reportId !== given?.report_id,
  })
  const report = draft.reportId === given?.report_id ? given : chosen.data?.report
  const watched = report && watchedOf(draft, report)
  const creating = useOperation('createAlert', {
    onDone: ({ alert: { alert_id: alertId } }) => navigate({ to: '/insights/alerts/$alertId', params: { alertId } }),
  })
  const updating = useOperation('updateAlert')
  const saving = alert ? updating : creating
  const submit = () => {
    if (!watched) return
    const wanted = { name: draft.name.trim(), ...watched, check_every: draft.checkEvery, mail_to: draft.mailTo }
    if (alert) updating.mutate({ alert_id: alert.alert_id, ...wanted })
    else creating.mutate(wanted)
  }
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Card component="section" aria-label={words.label}>
          <Form onSubmit={() => !saving.isPending && submit()}>
            <Fieldset variant="unstyled" disabled={isReadOnly}>
              <Stack gap="sm">
                <NameField value={draft.name} onChange={(name) => change({ name })} />
                <ReportField
                  value={draft.reportId}
                  report={report}
                  // What names a number of one question names none of another.
                  onChange={(reportId) => change({ ...newDraft(reportId), ...kept(draft) })}
                />
                {chosen.error ? <ErrorState error={chosen.error} onRetry={chosen.refetch} /> : null}
                {report ? <NumberFields draft={draft} report={report} onChange={change} /> : null}
                <ConditionFields
                  draft={draft}
                  isShare={report !== undefined && isShare(report.kind, draft.figure)}
                  onChange={change}
                />
                <NativeSelect
                  label={words.checkEvery}
                  value={draft.checkEvery}
                  onChange={({ currentTarget: { value } }) =>
                    change({ checkEvery: EVERY.find((each) => each === value) ?? draft.checkEvery })
                  }
                  data={EVERY.map((value) => ({ value, label: words.every[value] }))}
                />
                <Recipients value={draft.mailTo} onChange={(mailTo) => change({ mailTo })} />
              </Stack>
            </Fieldset>
            <FormError error={saving.error} />
            {isReadOnly ? null : (
              <Group gap="xs">
                <Button type="submit" loading={saving.isPending} disabled={draft.name.trim() === '' || !watched}>
                  {alert ? words.save : words.create}
                </Button>
                <Button variant="default" onClick={() => navigate({ to: '/insights/alerts' })}>
                  {words.cancel}
                </Button>
              </Group>
            )}
          </Form>
        </Card>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <AlertPreview draft={draft} report={report} />
      </Grid.Col>
    </Grid>
  )
}

function kept({ name, limit, operator, isPercent, checkEvery, mailTo }: AlertDraft): Partial<AlertDraft> {
  return { name, limit, operator, isPercent, checkEvery, mailTo }
}

interface ReportFieldProps {
  value: string
  /** The report that is chosen, which the list may lack. */
  report: Report | undefined
  onChange: (reportId: string) => void
}

function ReportField({ value, report, onChange }: ReportFieldProps) {
  const { data, error, refetch } = useQuery(queryOf('listReports', { limit: LISTED_MAX }))
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <LoadingState lines={1} label={words.loadingReports} />
  const reports = data.reports.filter(({ kind }) => kind !== 'paths')
  const isListed = reports.some(({ report_id: id }) => id === value)
  return (
    <NativeSelect
      label={words.report}
      required
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[
        ...(value === '' ? [{ value: '', label: words.chooseReport }] : []),
        ...(isListed || !report ? [] : [{ value, label: report.name.slice(0, 120) }]),
        ...reports.map(({ report_id: id, name }) => ({ value: id, label: name.slice(0, 120) })),
      ]}
    />
  )
}

interface ConditionFieldsProps {
  draft: AlertDraft
  isShare: boolean
  onChange: (changes: Partial<AlertDraft>) => void
}

function ConditionFields({
  draft: { operator, limit, isPercent },
  isShare: isOfShare,
  onChange,
}: ConditionFieldsProps) {
  const isChange = operator === 'changed_by'
  const { percent, points, number } = words.units
  const isShownInPercent = isChange ? isPercent || isOfShare : isOfShare
  return (
    <>
      <NativeSelect
        label={words.operator}
        description={isChange ? words.changeHint : undefined}
        value={operator}
        onChange={({ currentTarget: { value } }) =>
          onChange({ operator: OPERATORS.find((each) => each === value) ?? operator })
        }
        data={OPERATORS.map((value) => ({ value, label: words.operators[value] }))}
      />
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <NumberInput
          label={words.limit}
          required
          style={{ flex: 1 }}
          {...(isChange ? { min: 0 } : {})}
          suffix={isShownInPercent ? '%' : ''}
          value={limit}
          onChange={(typed) => onChange({ limit: String(typed) })}
        />
        {isChange ? (
          <NativeSelect
            aria-label={words.limitIn}
            value={isPercent ? 'percent' : 'number'}
            onChange={({ currentTarget: { value } }) => onChange({ isPercent: value === 'percent' })}
            data={[
              { value: 'percent', label: percent },
              { value: 'number', label: isOfShare ? points : number },
            ]}
          />
        ) : null}
      </Group>
    </>
  )
}

/** The members who get a mail. Those who have left the workspace are dropped. */
function Recipients({ value, onChange }: { value: string[]; onChange: (value: string[]) => void }) {
  const { data, error, refetch } = useQuery(queryOf('listMembers', { limit: LISTED_MAX }))
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <LoadingState lines={2} label={words.loadingMembers} />
  const isMember = (id: string) => data.members.some(({ user_id }) => user_id === id)
  return (
    <Checkbox.Group
      label={words.mailTo}
      description={words.mailHint}
      value={value}
      onChange={(chosen) => onChange(chosen.filter(isMember).slice(0, RECIPIENTS_MAX))}
    >
      <Stack gap={6} mt="xs">
        {data.members.map(({ user_id, name, email }) => (
          <Checkbox key={user_id} value={user_id} label={name || email} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
