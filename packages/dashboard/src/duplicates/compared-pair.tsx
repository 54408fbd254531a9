import { Badge, Box, List, Radio, Table, Text } from '@mantine/core'
import type { Duplicate, DuplicateContact } from '../api/types.ts'
import { contactName } from '../records/contact-name.ts'
import { AnchorLink } from '../ui/link.tsx'
import { propertyLabel, valueWords } from '../ui/property-value.ts'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { text } from './text.ts'

/** What is compared first. */
const FIRST = ['email', 'firstname', 'lastname', 'company', 'jobtitle']
const LABEL_WIDTH = '28%'

interface ComparedPairProps {
  pair: Duplicate
  keptId: string
  /** Absent for those who may not merge. */
  onKeep: ((contactId: string) => void) | undefined
}

/** Two contacts side by side, with what differs, and why they may be one person. */
export function ComparedPair({ pair: { contacts, reasons }, keptId, onKeep }: ComparedPairProps) {
  return (
    <>
      <Box mb="md">
        <Text size="sm" fw={600}>
          {text.reasons}
        </Text>
        <List size="sm">
          {reasons.map(({ code, text: words }) => (
            <List.Item key={code}>{words}</List.Item>
          ))}
        </List>
      </Box>
      <Table
        layout="fixed"
        horizontalSpacing="xs"
        fz="sm"
        withTableBorder
        aria-label={text.compared}
        style={{ overflowWrap: 'anywhere' }}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={LABEL_WIDTH}>{text.property}</Table.Th>
            {contacts.map((contact) => (
              <Table.Th key={contact.contact_id}>
                <AnchorLink to="/contacts/$contactId" params={{ contactId: contact.contact_id }}>
                  <Foreign max={120}>{contactName(contact)}</Foreign>
                </AnchorLink>
                {onKeep ? (
                  <Radio
                    mt={4}
                    size="xs"
                    name="kept"
                    label={text.kept}
                    aria-label={text.keep(contactName(contact).slice(0, 120))}
                    checked={contact.contact_id === keptId}
                    onChange={() => onKeep(contact.contact_id)}
                  />
                ) : null}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {propertiesOf(contacts).map((name) => (
            <ComparedProperty key={name} name={name} values={contacts.map(({ properties }) => properties[name])} />
          ))}
          <Table.Tr>
            <Table.Th scope="row" fw={400}>
              {text.created}
            </Table.Th>
            {contacts.map(({ contact_id: id, created_at: at }) => (
              <Table.Td key={id}>
                <Moment at={at} />
              </Table.Td>
            ))}
          </Table.Tr>
          <Table.Tr>
            <Table.Th scope="row" fw={400}>
              {text.createdBy}
            </Table.Th>
            {contacts.map(({ contact_id: id, creation_source: source }) => (
              <Table.Td key={id}>
                <Foreign>{source}</Foreign>
              </Table.Td>
            ))}
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </>
  )
}

function ComparedProperty({ name, values }: { name: string; values: unknown[] }) {
  const words = values.map((value) => valueWords(name, value))
  const differs = words.every((each) => each !== '') && words[0] !== words[1]
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={differs ? 600 : 400}>
        <Foreign max={80}>{propertyLabel(name)}</Foreign>
        {differs ? (
          <Badge size="xs" variant="light" color="orange" tt="none" display="block" w="fit-content" mt={2}>
            {text.differs}
          </Badge>
        ) : null}
      </Table.Th>
      {words.map((each, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the two contacts do not change places
        <Table.Td key={at} fw={differs ? 600 : 400}>
          {each === '' ? <None /> : <Foreign>{each}</Foreign>}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}

/** The names of what at least one of the two has, the most telling first. */
function propertiesOf(contacts: readonly DuplicateContact[]): string[] {
  const names = new Set(contacts.flatMap(({ properties }) => Object.keys(properties)))
  return [...FIRST.filter((name) => names.has(name)), ...[...names].filter((name) => !FIRST.includes(name)).sort()]
}
