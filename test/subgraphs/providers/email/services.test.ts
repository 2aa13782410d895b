import { describe, expect, test } from 'vitest'
import { service } from '../processor/stage.ts'
import { sendingWorld } from './sending.ts'

const list = '{ emailMessages { nodes { subject } } }'
const read = 'query($id: ID!) { emailMessage(id: $id) { subject } }'

describe('Mails, to services', () => {
  test('are shown to the app alone that has sent them: a subject may hold a code', async () => {
    const { graph, owner, send } = await sendingWorld(null)
    const support = service(owner.organizationId!, ['EMAIL'], 'app_support')
    const payments = service(owner.organizationId!, ['EMAIL', 'PAYMENTS'])
    const { id } = await send({ subject: 'Your code is 123 456' }, payments)
    await send({ subject: 'From a person' })
    const subjects = async (as: typeof owner) => {
      const { nodes } = (await graph.execute(list, {}, { as })).data().emailMessages as { nodes: { subject: string }[] }
      return nodes.map(({ subject }) => subject).sort()
    }
    expect(await subjects(payments)).toEqual(['Your code is 123 456'])
    expect(await subjects(support)).toEqual([])
    expect(await subjects(owner)).toEqual(['From a person', 'Your code is 123 456'])
    expect((await graph.execute(read, { id }, { as: payments })).data().emailMessage).toMatchObject({ subject: 'Your code is 123 456' })
    ;(await graph.execute(read, { id }, { as: support })).refused('NOT_FOUND')
  })

  test('are nobody’s to read whose client may not send any', async () => {
    const { graph, owner, send } = await sendingWorld(null)
    const { id } = await send()
    const publishing = service(owner.organizationId!, ['VIDEO', 'NETWORK_APPLICATIONS'], 'app_publishing')
    ;(await graph.execute(list, {}, { as: publishing })).refused('FORBIDDEN')
    ;(await graph.execute(read, { id }, { as: publishing })).refused('FORBIDDEN')
  })
})
