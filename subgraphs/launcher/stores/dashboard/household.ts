import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, truth, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'

export type HouseholdRole = 'OWNER' | 'ADULT' | 'CHILD'

const households = table('launcher.households', { id: uuid.key, name: text, ...stamps })

const members = table('launcher.household_members', {
  householdId: uuid.key,
  userId: uuid.key,
  name: text,
  role: text.of<HouseholdRole>(),
  selected: truth.or(false),
  joinedAt: moment,
})

const invitations = table('launcher.household_invitations', {
  id: uuid.key,
  householdId: uuid,
  householdName: text,
  /** The invited address, in stored form. */
  email: text,
  role: text.of<HouseholdRole>(),
  status: text.of<'PENDING' | 'ACCEPTED' | 'DECLINED' | 'WITHDRAWN'>(),
  expiresAt: moment,
  /** When its action item is to be opened or closed; null for one that is closed. */
  settleAt: moment.maybe,
  ...stamps,
})

export type HouseholdRow = Row<typeof households>
export type HouseholdMemberRow = Row<typeof members>
export type HouseholdInvitationRow = Row<typeof invitations>

/** The household that a person has chosen, and the person's role there. */
export interface SelectedHousehold {
  readonly id: string
  readonly name: string
  readonly role: HouseholdRole
}

const [lockPerson, lockHousehold] = [transactionLock('launcher.household-person'), transactionLock('launcher.household')]
const ofPerson = statement(
  `select ${selectList(households, 't')} from launcher.household_members m join launcher.households t on t.id = m.household_id
    where m.user_id = $1 order by m.joined_at, t.id`,
)
const countOfPerson = statement('select count(*)::int as count from launcher.household_members m where m.user_id = $1')
const selected = statement(
  `select t.id, t.name, m.role from launcher.household_members m join launcher.households t on t.id = m.household_id where m.user_id = $1 and m.selected`,
)
const ofHouseholds = statement(
  `select ${selectList(members, 't')} from launcher.household_members t where t.household_id = any($1::uuid[]) order by t.joined_at, t.role <> 'OWNER', t.user_id`,
)
const unselect = statement('update launcher.household_members m set selected = false where m.user_id = $1 and m.selected')
const select = statement('update launcher.household_members m set selected = true where m.user_id = $1 and m.household_id = $2')
const join = statement(
  `insert into launcher.household_members (household_id, user_id, name, role, joined_at) values ($1, $2, $3, $4, $5)
   on conflict (household_id, user_id) do nothing returning user_id as "userId"`,
)
const setRole = statement('update launcher.household_members m set role = $3 where m.household_id = $1 and m.user_id = $2')
const leave = statement('delete from launcher.household_members m where m.household_id = $1 and m.user_id = $2')
const rename = statement('update launcher.household_members m set name = $2 where m.user_id = $1 and m.name <> $2')
const touch = statement(`update launcher.households t set version = t.version + 1, updated_at = $2 where t.id = $1 returning ${selectList(households, 't')}`)

const householdSql = (rows: Rows<typeof households>, { reading }: StoreContext) => {
  const byHousehold = createLoader<string, readonly HouseholdMemberRow[]>(reading, async ids => {
    const found = await rows.read<HouseholdMemberRow>(ofHouseholds, [ids])
    return ids.map(id => found.filter(({ householdId }) => householdId === id))
  })
  return {
    /** Returns the households of a person, the one joined first first. */
    ofPerson: (userId: string): Promise<HouseholdRow[]> => rows.read(ofPerson, [userId]),

    /** Loads the members of a household that the viewer may see, by age. */
    membersOf: (id: string): Promise<readonly HouseholdMemberRow[]> => byHousehold.load(id),

    /** Returns the members, and keeps everybody else from changing the household. */
    async lockMembers(id: string, transaction: Transaction): Promise<HouseholdMemberRow[]> {
      await rows.read(lockHousehold, [id], transaction)
      return rows.read<HouseholdMemberRow>(ofHouseholds, [[id]], transaction)
    },

    /** Counts a person's households, and keeps the person from joining another one meanwhile. */
    async lockCount(userId: string, transaction: Transaction): Promise<number> {
      await rows.read(lockPerson, [userId], transaction)
      return (await rows.read<{ count: number }>(countOfPerson, [userId], transaction))[0]!.count
    },

    /** Returns the household that a person has chosen; null for none. */
    selectedOf: async (userId: string): Promise<SelectedHousehold | null> => (await rows.read<SelectedHousehold>(selected, [userId]))[0] ?? null,

    /** Chooses a household of a person. @param id null for none */
    async select(userId: string, id: string | null, transaction: Transaction): Promise<void> {
      await rows.read(lockPerson, [userId], transaction)
      await rows.read(unselect, [userId], transaction)
      if (id !== null) await rows.read(select, [userId, id], transaction)
    },

    /** Makes a person a member. @returns false for one who is */
    join: async ({ householdId, userId, name, role, joinedAt }: Omit<HouseholdMemberRow, 'selected'>, transaction: Transaction): Promise<boolean> =>
      (await rows.read(join, [householdId, userId, name, role, joinedAt], transaction)).length > 0,

    setRole: async (id: string, userId: string, role: HouseholdRole, transaction: Transaction): Promise<void> =>
      void (await rows.read(setRole, [id, userId, role], transaction)),
    leave: async (id: string, userId: string, transaction: Transaction): Promise<void> => void (await rows.read(leave, [id, userId], transaction)),
    /** Keeps the name of a person in every household as identity has it. */
    rename: async (userId: string, name: string, transaction: Transaction): Promise<void> => void (await rows.read(rename, [userId, name], transaction)),

    /** Counts a change of a household's members. */
    touch: async (id: string, now: Date, transaction: Transaction): Promise<HouseholdRow> => (await rows.read<HouseholdRow>(touch, [id, now], transaction))[0]!,
  }
}

/** Condition for households of the viewer, who is in personal context. */
const seen = `:organization::uuid is null and exists (select from launcher.household_members m where m.household_id = t.id and m.user_id = :person)`

export const householdStore = store(households, { what: 'household', tenancy: { where: seen } }, householdSql)

const pending = `t.status = 'PENDING' and t.expires_at > $2`
const pendingOfHouseholds = statement(
  `select ${selectList(invitations, 't')} from launcher.household_invitations t where t.household_id = any($1::uuid[]) and ${pending} order by t.created_at, t.id`,
)
const pendingByAddress = statement(
  `select ${selectList(invitations, 't')} from launcher.household_invitations t where t.email = $1 and ${pending} order by t.created_at, t.id limit 50`,
)
const one = statement(`select ${selectList(invitations, 't')} from launcher.household_invitations t where t.id = $1`)
const lockOne = statement(`select ${selectList(invitations, 't')} from launcher.household_invitations t where t.id = $1 for update`)

const lockAll = statement(`select ${selectList(invitations, 't')} from launcher.household_invitations t where t.household_id = $1 order by t.id for update`)
const nextSettle = statement('select t.settle_at as at from launcher.household_invitations t where t.settle_at is not null order by t.settle_at limit 1')
const toSettle = statement(`select ${selectList(invitations, 't')} from launcher.household_invitations t where t.settle_at <= $1 order by t.settle_at limit $2`)
const lockToSettle = statement(
  `select ${selectList(invitations, 't')} from launcher.household_invitations t where t.id = $1 and t.settle_at <= $2 for update skip locked`,
)
const settle = statement('update launcher.household_invitations set settle_at = $2 where id = $1')
const postpone = statement('update launcher.household_invitations set settle_at = $3 where id = $1 and settle_at = $2')

const invitationSql = (rows: Rows<typeof invitations>, { reading, clock }: StoreContext) => {
  const byHousehold = createLoader<string, readonly HouseholdInvitationRow[]>(reading, async ids => {
    const found = await rows.read(pendingOfHouseholds, [ids, clock.now()])
    return ids.map(id => found.filter(({ householdId }) => householdId === id))
  })
  return {
    /** Loads the invitations to a household that nobody has answered. */
    pendingOf: (id: string): Promise<readonly HouseholdInvitationRow[]> => byHousehold.load(id),
    /** Reads the same within a transaction. */
    lockPending: (id: string, transaction: Transaction): Promise<HouseholdInvitationRow[]> => rows.read(pendingOfHouseholds, [[id], clock.now()], transaction),
    /** Locks all invitations to a household, answered ones too. */
    lockAll: (householdId: string, transaction: Transaction): Promise<HouseholdInvitationRow[]> => rows.read(lockAll, [householdId], transaction),
    /** Returns when the next action item is to be opened or closed; null without one. */
    nextSettle: async (): Promise<Date | null> => (await rows.read<{ at: Date }>(nextSettle, []))[0]?.at ?? null,
    /** Returns invitations whose action item is to be opened or closed, the longest due first. */
    toSettle: (now: Date, limit: number): Promise<HouseholdInvitationRow[]> => rows.read(toSettle, [now, limit]),
    /** Locks one of them; null when another process settles it. */
    lockToSettle: async (id: string, now: Date, transaction: Transaction): Promise<HouseholdInvitationRow | null> =>
      (await rows.read(lockToSettle, [id, now], transaction))[0] ?? null,
    /** Has the action item looked after at a moment. @param at null: no more */
    settle: async (id: string, at: Date | null, transaction: Transaction): Promise<void> => void (await rows.read(settle, [id, at], transaction)),
    /** Puts one off that could not be settled, unless another process has settled it. */
    postpone: async ({ id, settleAt }: Pick<HouseholdInvitationRow, 'id' | 'settleAt'>, until: Date): Promise<void> =>
      void (await rows.read(postpone, [id, settleAt, until])),
    /** Returns the invitations of an address that nobody has answered, by age. */
    ofAddress: (email: string): Promise<HouseholdInvitationRow[]> => rows.read(pendingByAddress, [email, clock.now()]),
    /** Returns an invitation, whoever asks. */
    ofId: async (id: string): Promise<HouseholdInvitationRow | null> => (await rows.read(one, [id]))[0] ?? null,
    /** Returns the same, and keeps everybody else from answering it. */
    lockId: async (id: string, transaction: Transaction): Promise<HouseholdInvitationRow | null> => (await rows.read(lockOne, [id], transaction))[0] ?? null,
  }
}

export const householdInvitationStore = store(
  invitations,
  {
    what: 'invitation',
    tenancy: {
      where: `:organization::uuid is null and exists (select from launcher.household_members m where m.household_id = t.household_id and m.user_id = :person)`,
    },
  },
  invitationSql,
)
