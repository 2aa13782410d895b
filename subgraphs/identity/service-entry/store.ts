import { isDeepStrictEqual } from 'node:util'
import { Op, QueryTypes, type Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import type { Reading } from '../../reading.ts'
import { createEachLoader, createLoader } from '../../store/loader.ts'
import type { Tables } from '../tables.ts'
import { conflictOf, type EntryContent } from './rules.ts'
import type { ServiceEntryRow } from './table.ts'

export type ServiceEntryStore = ReturnType<typeof openServiceEntryStore>

/** The registry of one environment, for one operation. */
export function openServiceEntryStore(tables: Tables, environment: string, reading: Reading) {
  const { serviceEntries } = tables
  const by = (column: 'id' | 'slug') =>
    createLoader<string, ServiceEntryRow | null>(reading, async values => {
      const rows = await serviceEntries.findAll({ where: { environment, [column]: [...values] }, raw: true })
      const found = new Map(rows.map(row => [row[column], row]))
      return values.map(value => found.get(value) ?? null)
    })
  const inEnvironment = createEachLoader<string, ServiceEntryRow[]>(reading, each =>
    serviceEntries.findAll({ where: { environment: each }, order: [['slug', 'ASC']], raw: true }),
  )
  return {
    byId: by('id'),
    bySlug: by('slug'),
    /** By slug. */
    all: (): Promise<ServiceEntryRow[]> => inEnvironment.load(environment),
  }
}

/** Serialises those who synchronise the registry; any number that nothing else in this database locks. */
const registryLock = 7_301_442

/**
 * Brings the registry up to the given entries: adds new ones, updates what differs, leaves alone what belongs to others.
 * Any number of processes may call it at once.
 * @returns why entries were left out, by slug
 */
export function synchroniseEntries(tables: Tables, entries: readonly EntryContent[], now: Date): Promise<Map<string, string>> {
  const { sequelize, serviceEntries } = tables
  return sequelize.transaction(async transaction => {
    await sequelize.query('select pg_advisory_xact_lock($1::bigint)', { type: QueryTypes.SELECT, bind: [registryLock], transaction })
    const environment = [...new Set(entries.map(entry => entry.environment))]
    const either = [{ slug: entries.map(entry => entry.slug) }, { appId: entries.map(entry => entry.appId) }]
    const present = await serviceEntries.findAll({ where: { environment, [Op.or]: either }, raw: true, transaction })
    const conflicts = new Map<string, string>()
    for (const entry of entries) {
      const bySlug = present.find(row => row.slug === entry.slug) ?? null
      const byAppId = present.find(row => row.appId === entry.appId) ?? null
      const conflict = conflictOf(entry, bySlug, byAppId)
      if (conflict) conflicts.set(entry.slug, conflict)
      else await write(tables, entry, bySlug, now, transaction)
    }
    return conflicts
  })
}

async function write({ serviceEntries }: Tables, entry: EntryContent, present: ServiceEntryRow | null, now: Date, transaction: Transaction): Promise<void> {
  if (!present) {
    const row = { ...entry, id: newId(now), version: 1, createdAt: now, updatedAt: now }
    await serviceEntries.create(row, { transaction, returning: false })
    return
  }
  const { id, version, createdAt, updatedAt, ...content } = present
  if (isDeepStrictEqual(content, entry)) return
  await serviceEntries.update({ ...entry, version: version + 1, updatedAt: now }, { where: { id }, transaction })
}
