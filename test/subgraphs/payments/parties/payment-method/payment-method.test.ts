import { describe, expect, it } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { shared } from '../../../../kit/shared.ts'
import { supergraph } from '../../../../kit/supergraph.ts'
import { type ProcessorStage, processorStage } from '../../../providers/processor/stage.ts'
import { seedClient, seedCustomer, seedMethod } from '../customer/seed.ts'

const fields = '{ id brand last4 expMonth expYear isDefault }'
const add = `mutation($input: AddPaymentMethodInput!) { addPaymentMethod(input: $input) ${fields} }`
const remove = `mutation($input: RemovePaymentMethodInput!) { removePaymentMethod(input: $input) ${fields} }`
const setDefault = `mutation($input: SetDefaultPaymentMethodInput!) { setDefaultPaymentMethod(input: $input) ${fields} }`
const erase = 'mutation($input: EraseCustomerInput!) { eraseCustomer(input: $input) { paymentMethods { id } } }'
const methods = 'query($id: ID!) { customer(id: $id) { paymentMethods { id isDefault } } }'

const world = shared(() => processorStage())

/** A customer of the stage's organization, and the mutations of its owner. */
async function customerOf({ graph, owner, organizationId }: ProcessorStage) {
  await seedClient(graph)
  const { id: customerId } = await seedCustomer(graph, { organizationId })
  const run = (document: string, input: object) => graph.execute(document, { input }, { as: owner })
  return {
    customerId,
    run,
    add: async (input: object = {}) => (await run(add, { customerId, token: 'pm_card_visa', ...input })).data().addPaymentMethod,
    list: async () => (await graph.execute(methods, { id: customerId }, { as: owner })).data().customer.paymentMethods,
  }
}

describe('addPaymentMethod', () => {
  it('keeps a method with what the processor knows of the card; the first becomes the default', async () => {
    const customer = await customerOf(world())
    const first = await customer.add()
    expect(first).toMatchObject({ brand: 'visa', last4: '4242', expMonth: expect.any(Number), expYear: expect.any(Number), isDefault: true })
    expect(await customer.add()).toMatchObject({ isDefault: false })
    const third = await customer.add({ isDefault: true })
    expect(await customer.list()).toEqual([
      { id: first.id, isDefault: false },
      { id: expect.any(String), isDefault: false },
      { id: third.id, isDefault: true },
    ])
  })

  it('stores the token in one column alone: not in the audit log, nor with the idempotency key', async () => {
    const { graph } = world()
    const customer = await customerOf(world())
    await customer.add({ idempotencyKey: newId() })
    const stored = await Promise.all(['payments.audit_entries', 'payments.idempotency_keys'].map(table => graph.rows(`select * from ${table}`)))
    expect(JSON.stringify(stored)).not.toContain('pm_')
  })

  it('adds one method when a key is sent many times at once', async () => {
    const customer = await customerOf(world())
    const once = { idempotencyKey: newId() }
    const added = await Promise.all(Array.from({ length: 5 }, () => customer.add(once)))
    expect(new Set(added.map(({ id }) => id)).size).toBe(1)
    expect(await customer.list()).toHaveLength(1)
  })

  it.each(['4242424242424242', 'tok_visa', 'pm_a b'])('rejects %s with BAD_USER_INPUT and does not repeat it', async token => {
    const { customerId, run } = await customerOf(world())
    const answer = await run(add, { customerId, token })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe('token')
    expect(JSON.stringify(answer.partial)).not.toContain(token)
  })

  it('rejects a token that the processor does not know with BAD_USER_INPUT and does not repeat it', async () => {
    const { customerId, run, list } = await customerOf(world())
    const answer = await run(add, { customerId, token: 'pm_unknown_to_it' })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe('token')
    expect(JSON.stringify(answer.partial)).not.toContain('pm_unknown_to_it')
    expect(await list()).toEqual([])
  })

  it('rejects the method after the twentieth, and one for an erased customer, with CONFLICT', async () => {
    const stage = world()
    const { graph, organizationId } = stage
    const { run } = await customerOf(stage)
    const full = await seedCustomer(graph, { organizationId })
    for (let count = 0; count < 20; count += 1) await seedMethod(graph, full)
    const reason = async (customerId: string) => (await run(add, { customerId, token: 'pm_card_visa' })).refused('CONFLICT').extensions.reason
    expect(await reason(full.id)).toBe('QUOTA')
    const erased = await seedCustomer(graph, { organizationId, name: null, erasedAt: graph.clock.now() })
    expect(await reason(erased.id)).toBe('CUSTOMER_ERASED')
  })

  it('says that nothing was sent when there is no credential of the processor', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner } = await graph.seed.owner()
    await seedClient(graph)
    const { id: customerId } = await seedCustomer(graph, { organizationId: owner.organizationId! })
    const answer = await graph.execute(add, { input: { customerId, token: 'pm_card_visa' } }, { as: owner })
    expect(answer.refused('CONFLICT').extensions.reason).toBe('NO_CREDENTIAL')
  })
})

describe('removePaymentMethod', () => {
  it('removes a method here and at the processor, and makes the newest of the others the default', async () => {
    const customer = await customerOf(world())
    const [first, , third] = [await customer.add(), await customer.add(), await customer.add()]
    expect((await customer.run(remove, { id: first.id })).data().removePaymentMethod).toEqual(first)
    expect(await customer.list()).toEqual([
      { id: expect.any(String), isDefault: false },
      { id: third.id, isDefault: true },
    ])
    expect((await customer.run(remove, { id: first.id })).refused('NOT_FOUND').extensions.id).toBe(first.id)
  })
})

describe('setDefaultPaymentMethod', () => {
  it('leaves one default, also when two are set at once', async () => {
    const customer = await customerOf(world())
    const all = [await customer.add(), await customer.add(), await customer.add()]
    await Promise.all(all.slice(1).map(({ id }) => customer.run(setDefault, { id })))
    expect((await customer.list()).filter(({ isDefault }: { isDefault: boolean }) => isDefault)).toHaveLength(1)
  })
})

describe('eraseCustomer', () => {
  it('removes the methods of the customer', async () => {
    const customer = await customerOf(world())
    await customer.add()
    expect((await customer.run(erase, { id: customer.customerId })).data().eraseCustomer.paymentMethods).toEqual([])
    expect(await customer.list()).toEqual([])
  })
})
