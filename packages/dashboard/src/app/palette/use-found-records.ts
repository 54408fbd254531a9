import { useDebouncedValue } from '@mantine/hooks'
import { IconBuilding, IconFilter, IconLayoutDashboard, IconUser } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { queryOf } from '../../api/operation.ts'
import { allSegmentsQuery } from '../../filters/all-segments.ts'
import { contactName } from '../../records/contact-name.ts'
import { useMay } from '../../session/may.ts'
import { propertyText } from '../../ui/property-value.ts'
import { text } from '../text.ts'
import { matching, type PaletteGroup } from './palette-item.ts'

/** Shorter texts match nearly everything. */
const LENGTH_MIN = 2
const FOUND_MAX = 5
const PAUSE_MS = 200

interface Found {
  groups: PaletteGroup[]
  isSearching: boolean
  error: unknown
}

/** Contacts, companies, segments and dashboards that match, as far as the person may read them. */
export function useFoundRecords(typed: string): Found {
  const router = useRouter()
  const [query] = useDebouncedValue(typed, PAUSE_MS)
  const isLong = query.length >= LENGTH_MIN
  const filters = { search: query, limit: FOUND_MAX }
  const contacts = useQuery({ ...queryOf('listContacts', filters), enabled: useMay('contacts:read') && isLong })
  const companies = useQuery({ ...queryOf('listCompanies', filters), enabled: useMay('companies:read') && isLong })
  const dashboards = useQuery({ ...queryOf('listDashboards', filters), enabled: useMay('events:read') && isLong })
  const segments = useQuery({ ...allSegmentsQuery, enabled: useMay('segments:read') && isLong })
  const { groups: title } = text.palette
  if (typed.length < LENGTH_MIN) return { groups: [], isSearching: false, error: null }
  const page = { opensPage: true }
  return {
    isSearching: typed !== query || contacts.isFetching || companies.isFetching || dashboards.isFetching,
    error: contacts.error ?? companies.error ?? segments.error ?? dashboards.error,
    groups: [
      {
        title: title.contacts,
        items: (contacts.data?.contacts ?? []).map((contact) => ({
          id: contact.contact_id,
          label: contactName(contact),
          hint: propertyText(contact.properties.email),
          icon: IconUser,
          ...page,
          run: () => void router.navigate({ to: '/contacts/$contactId', params: { contactId: contact.contact_id } }),
        })),
      },
      {
        title: title.companies,
        items: (companies.data?.companies ?? []).map(({ company_id: companyId, name, domain }) => ({
          id: companyId,
          label: name ?? domain ?? text.palette.unnamedCompany,
          hint: name === null ? undefined : (domain ?? undefined),
          icon: IconBuilding,
          ...page,
          run: () => void router.navigate({ to: '/companies/$companyId', params: { companyId } }),
        })),
      },
      {
        title: title.segments,
        items: matching(
          [...(segments.data?.values() ?? [])].map(({ segment_id: segmentId, name }) => ({
            id: segmentId,
            label: name,
            icon: IconFilter,
            ...page,
            run: () => void router.navigate({ to: '/segments/$segmentId', params: { segmentId } }),
          })),
          query,
        ).slice(0, FOUND_MAX),
      },
      {
        title: title.dashboards,
        items: (dashboards.data?.dashboards ?? []).map(({ dashboard_id: dashboardId, name }) => ({
          id: dashboardId,
          label: name,
          icon: IconLayoutDashboard,
          ...page,
          run: () => void router.navigate({ to: '/insights/dashboards/$dashboardId', params: { dashboardId } }),
        })),
      },
    ],
  }
}
