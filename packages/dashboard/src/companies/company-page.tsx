import { Box, Card, Stack, Tabs } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { keyOf, queryOf, useOperation } from '../api/operation.ts'
import { type RecordChanges, saveShown } from '../api/optimistic.ts'
import type { Company } from '../api/types.ts'
import { companyName } from '../records/company-columns.tsx'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { MovableContent, MovablePlace, useSide } from '../ui/movable.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { NotFoundPage, PendingPage } from '../ui/page-states.tsx'
import { PropertyEditor } from '../ui/property-editor.tsx'
import { computedNames, usualNames } from '../ui/property-value.ts'
import { ExternalLink, Foreign, Moment } from '../ui/text.tsx'
import { Timeline } from '../ui/timeline.tsx'
import { CompanyOverview } from './company-overview.tsx'
import classes from './company-page.module.css'
import { CompanyPeople } from './company-people.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/companies/$companyId')

/** One company with its contacts, their activity and its properties. */
export function CompanyPage() {
  const { companyId } = route.useParams()
  const { page, view, event_type, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const { side, isNarrow } = useSide(() => navigate({ search: { tab: 'details' }, replace: true }))
  const tab = search.tab === 'details' && !isNarrow ? 'contacts' : (search.tab ?? 'contacts')
  const { data, error, refetch } = useQuery(queryOf('getCompany', { company_id: companyId }))
  if (error instanceof ApiError && error.status === 404) return <NotFoundPage />
  if (!data) return <PendingPage title={text.one} error={error} onRetry={refetch} />
  const { company } = data
  const name = companyName(company)
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{name}</Foreign>}
        documentTitle={name.slice(0, 200)}
        breadcrumb={
          <AnchorLink size="sm" to="/companies">
            {text.title}
          </AnchorLink>
        }
        description={company.domain ? <ExternalLink url={`https://${company.domain}`} /> : null}
        actions={<DeleteCompany company={company} />}
      />
      <CompanyOverview companyId={companyId} />
      <MovableContent of={side}>
        <CompanySide key={companyId} company={company} />
      </MovableContent>
      <Box className={classes.columns}>
        {isNarrow ? null : <MovablePlace of={side} />}
        <Box miw={0}>
          <Tabs
            value={tab}
            onChange={(next) => navigate({ search: { tab: TABS.find((value) => value === next) }, replace: true })}
            keepMounted={false}
          >
            <Tabs.List aria-label={text.page.about}>
              <Tabs.Tab value="contacts">{text.page.contacts}</Tabs.Tab>
              <Tabs.Tab value="activity">{text.page.activity}</Tabs.Tab>
              {isNarrow ? <Tabs.Tab value="details">{text.page.details}</Tabs.Tab> : null}
            </Tabs.List>
            <Tabs.Panel value="contacts" pt="md">
              <CompanyPeople
                companyId={companyId}
                page={page ?? 1}
                onPage={(next) => navigate({ search: { tab, page: next } })}
              />
            </Tabs.Panel>
            <Tabs.Panel value="activity" pt="md">
              <Timeline
                subject={{ companyId }}
                search={{ view, event_type }}
                onSearch={(next) => navigate({ search: { tab: 'activity', ...next }, replace: true })}
              />
            </Tabs.Panel>
            <Tabs.Panel value="details" pt="md">
              <MovablePlace of={side} />
            </Tabs.Panel>
          </Tabs>
        </Box>
      </Box>
    </>
  )
}

const TABS = ['contacts', 'activity', 'details'] as const

function CompanySide({ company }: { company: Company }) {
  const queryClient = useQueryClient()
  const mayWrite = useMay('companies:write')
  const { company_id: companyId, name, domain } = company
  const { data } = useQuery(queryOf('listProperties', { entity: 'companies' }))
  const save = (changed: Record<string, unknown>) => saveShown(queryClient, 'companies', companyId, toChanges(changed))
  const fields = { ...(name === null ? {} : { name }), ...(domain === null ? {} : { domain }) }
  return (
    <Stack component="aside" aria-label={text.page.properties} gap="md" miw={0}>
      <Card>
        <PropertyEditor
          properties={{ ...company.properties, ...fields }}
          first={usualNames(data?.properties)}
          computed={computedNames(data?.properties)}
          onSave={mayWrite ? save : undefined}
        />
      </Card>
      <Card>
        <Facts
          facts={[
            [text.page.created, <Moment key="created" at={company.created_at} />],
            [text.page.updated, <Moment key="updated" at={company.updated_at} />],
          ]}
        />
      </Card>
    </Stack>
  )
}

/** Name and domain are separate fields; all else is a property. */
function toChanges(changed: Record<string, unknown>): RecordChanges {
  const { name, domain, ...properties } = changed
  return {
    ...(name === undefined ? {} : { name: name as string | null }),
    ...(domain === undefined ? {} : { domain: domain as string | null }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  }
}

function DeleteCompany({ company }: { company: Company }) {
  const queryClient = useQueryClient()
  const navigate = route.useNavigate()
  const { company_id } = company
  const removing = useOperation('deleteCompany', {
    onDone: async () => {
      await navigate({ to: '/companies' })
      queryClient.removeQueries({ queryKey: keyOf('getCompany', { company_id }) })
    },
  })
  if (!useMay('companies:write')) return null
  return (
    <ConfirmButton
      size="xs"
      title={text.page.deleteTitle(companyName(company).slice(0, 80))}
      explanation={text.page.deleteExplanation}
      confirmLabel={text.page.deleteConfirm}
      onConfirm={() => removing.mutateAsync({ company_id })}
    >
      {text.page.delete}
    </ConfirmButton>
  )
}
