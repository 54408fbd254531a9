import { expect, test } from 'vitest'
import { partsOfName } from './full-name.ts'

test.each([
  ['Ada Lovelace', { firstname: 'Ada', lastname: 'Lovelace' }],
  ['Lovelace, Ada', { firstname: 'Ada', lastname: 'Lovelace' }],
  ['LOVELACE Ada', { firstname: 'Ada', lastname: 'LOVELACE' }],
  ['ADA LOVELACE', { firstname: 'ADA', lastname: 'LOVELACE' }],
  ['Dr. Maria van der Berg', { firstname: 'Maria', lastname: 'van der Berg', salutation: 'Dr.' }],
  ['Prof. Dr. Ludwig van Beethoven', { firstname: 'Ludwig', lastname: 'van Beethoven', salutation: 'Prof. Dr.' }],
  ['van der Berg, Dr. Maria', { firstname: 'Maria', lastname: 'van der Berg', salutation: 'Dr.' }],
  ['Mary Jane Watson', { firstname: 'Mary Jane', lastname: 'Watson' }],
  ['Martin Luther King Jr.', { firstname: 'Martin Luther', lastname: 'King Jr.' }],
  ['Grace Hopper, PhD', { firstname: 'Grace', lastname: 'Hopper', name_suffix: 'PhD' }],
  ['Grace Hopper Ph.D.', { firstname: 'Grace', lastname: 'Hopper', name_suffix: 'Ph.D.' }],
  ['Jean-Luc Picard', { firstname: 'Jean-Luc', lastname: 'Picard' }],
  ['Ana de la Cruz', { firstname: 'Ana', lastname: 'de la Cruz' }],
  ["Sinéad O'Connor", { firstname: 'Sinéad', lastname: "O'Connor" }],
  ['山田 太郎', { firstname: '太郎', lastname: '山田' }],
  ['Charlotte Church', { firstname: 'Charlotte', lastname: 'Church' }],
  ['AB de Villiers', { firstname: 'AB', lastname: 'de Villiers' }],
  ['Ma Long', { firstname: 'Ma', lastname: 'Long' }],
  ['Ada', { firstname: 'Ada' }],
  ['Mrs Patel', { lastname: 'Patel', salutation: 'Mrs' }],
  ['  Ada   Lovelace ', { firstname: 'Ada', lastname: 'Lovelace' }],
])('%j', (name, parts) => {
  expect(partsOfName(name)).toEqual(parts)
})

test.each([
  'Analytical Engines Ltd.',
  'Kranich GmbH',
  'Siemens AG',
  'Acme, Inc.',
  'ada@example.com',
  'Sales (Berlin)',
  '+44 20 7946 0000',
  'Rome, Oslo, Bern',
  '-',
])('%j is left whole: it is no name of a person', (cell) => {
  expect(partsOfName(cell)).toBe(null)
})
