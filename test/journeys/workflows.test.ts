import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { signIn } from '../kit/client.ts'
import { isAsked, openWeb } from './visit.ts'

const createWorkflow = 'mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }'
const publishWorkflow = 'mutation($input: PublishWorkflowInput!) { publishWorkflow(input: $input) { id } }'
const startRun = 'mutation($input: StartRunInput!) { startRun(input: $input) { id } }'

describe.runIf(isAsked && browserPath)('workflows in a browser', () => {
  it('writes a plan, names what is wrong in it, publishes and runs it, edits what is approved, and reads the report', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1200 } })
    await enter(`${web.agents}/workflows`)
    await page.getByRole('button', { name: 'Create workflow' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Announce an offer')
    expect(await findings()).toEqual([])
    await dialog.getByRole('button', { name: 'Create workflow' }).click()
    await page.getByText('Add what happens first.').waitFor()

    const plan = page.locator('[data-plan]')
    const step = page.getByRole('region', { name: 'Step', exact: true })
    const add = async (kind: string) => {
      await plan.getByRole('button', { name: 'Add step' }).click()
      await page.getByRole('menuitem', { name: kind }).click()
    }
    await add('Report')
    await step.getByLabel('Title').fill('Offer')
    await step.getByLabel('Text of the report').fill('We sell at {{steps.ask.output.arguments.price}} until Friday.')
    await add('Approval')
    await step.getByLabel('Key').fill('ask')
    await step.getByLabel('Question to people').fill('Announce this price?')
    await step.getByRole('checkbox', { name: 'Edit' }).check()
    await step.getByLabel('Arguments').fill('{ "price": 12 ')
    await plan.getByRole('button', { name: 'Save draft' }).click()
    await step.getByText('Write valid JSON.').waitFor()
    await step.getByLabel('Arguments').fill('{ "price": 12 }')
    expect(await findings()).toEqual([])
    // The report names a step that comes later: the graph says so of the first step.
    await plan.getByRole('button', { name: 'Save draft' }).click()
    await step.getByText('is not the key of an earlier step').waitFor()
    await page.reload()
    await plan.getByRole('button', { name: 'Move up: ask' }).click()
    await plan.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('The draft was saved').waitFor()
    await plan.getByRole('button', { name: 'Publish plan' }).click()
    await dialog.getByText('New runs of Announce an offer begin with plan 1.').waitFor()
    await dialog.getByRole('button', { name: 'Publish plan' }).click()
    await page.getByText('The draft is the plan in use.').waitFor()
    expect(await findings()).toEqual([])

    await page.getByRole('button', { name: 'Start run' }).click()
    await dialog.getByRole('button', { name: 'Start run' }).click()
    await page.getByRole('link', { name: 'Waits for a person: Announce this price?' }).click()
    const approval = page.getByRole('region', { name: 'Approval', exact: true })
    await approval.getByText('"price": 12').waitFor()
    await approval.getByText(/Expires .* it counts as rejected/).waitFor()
    expect(await findings()).toEqual([])
    await approval.getByRole('button', { name: 'Edit and approve' }).click()
    await dialog.getByLabel('What will run').fill('{ "price": 10 }')
    await dialog.getByLabel('Comment').fill('Twelve is too much')
    await dialog.getByRole('button', { name: 'Edit and approve' }).click()
    await approval.getByText('Approved with changes').waitFor()
    await approval.getByText('“Twelve is too much”').or(approval.getByText('Twelve is too much')).first().waitFor()
    await approval.getByRole('link', { name: 'Announce an offer' }).click()
    const about = page.getByRole('region').filter({ hasText: 'About this run' }).or(page.locator('main section').first())
    await about.getByText('Succeeded', { exact: true }).first().waitFor()
    const asked = page.locator('[data-step=ask]')
    await asked.getByText(/^Edit: /).waitFor()
    await asked.getByText(/took /).waitFor()
    await asked.getByText('Output').click()
    await asked.getByText('"price": 10').first().waitFor()
    expect(await findings()).toEqual([])

    await page.getByRole('link', { name: 'Reports' }).click()
    await page.getByRole('link', { name: 'Offer', exact: true }).click()
    await page.getByRole('region', { name: 'Report', exact: true }).getByText('We sell at 10 until Friday.').waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('link', { name: 'Work feed' }).click()
    await page.locator('[data-kind=APPROVAL_DECIDED]').first().waitFor()
    await page.locator('[data-kind=RUN_SUCCEEDED]').first().waitFor()
    expect(await violations()).toEqual([])
  })

  it('explains a run that failed, and retries it from the step that failed', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const owner = await signIn(web.url, 'owner@demo.test')
    const steps = [
      { key: 'begin', kind: 'REPORT', title: 'Beginning', text: 'It begins.' },
      { key: 'ask', kind: 'APPROVAL', title: 'May it go on?', gate: { title: 'May it go on?', risk: 'HIGH' } },
      { key: 'end_it', kind: 'REPORT', title: 'End', text: 'It has ended.' },
    ]
    const { createWorkflow: made } = await owner.query<{ createWorkflow: { id: string } }>(createWorkflow, {
      input: { name: 'Ask first', trigger: { kind: 'MANUAL' }, steps },
    })
    await owner.query(publishWorkflow, { input: { id: made.id } })
    const { startRun: run } = await owner.query<{ startRun: { id: string } }>(startRun, { input: { workflowId: made.id } })
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1200 } })
    const decide = async (verb: string) => {
      await page.getByRole('link', { name: 'Waits for a person: May it go on?' }).click()
      await page.getByRole('region', { name: 'Approval', exact: true }).getByRole('button', { name: verb, exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click()
      await page.getByRole('region', { name: 'Approval', exact: true }).getByRole('link', { name: 'Ask first' }).click()
    }
    await enter(`${web.agents}/runs/${run.id}`)
    await decide('Reject')
    await page.getByText(/It failed at May it go on\?: /).waitFor()
    await page.locator('[data-step=ask]').getByText('Failed', { exact: true }).waitFor()
    await page.locator('[data-step=end_it]').getByText('Not begun').waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'Retry run' }).click()
    await page.getByRole('dialog').getByText('What succeeded before that step is not repeated.').waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Retry run' }).click()
    await decide('Approve')
    await page.locator('[data-step=end_it]').getByText('Done', { exact: true }).waitFor()
    await page
      .locator('[data-step=ask]')
      .getByText(/attempt 2/)
      .waitFor()
    expect(await violations()).toEqual([])
  })

  it('lets somebody without an account decide once, by a link that shows what will run', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const owner = await signIn(web.url, 'owner@demo.test')
    const steps = [{ key: 'ask', kind: 'APPROVAL', title: 'Send it?', arguments: { to: 'Ada' }, gate: { title: 'Send the letter?', risk: 'HIGH' } }]
    const { createWorkflow: made } = await owner.query<{ createWorkflow: { id: string } }>(createWorkflow, {
      input: { name: 'Letters', trigger: { kind: 'MANUAL' }, steps },
    })
    await owner.query(publishWorkflow, { input: { id: made.id } })
    const { startRun: run } = await owner.query<{ startRun: { id: string } }>(startRun, { input: { workflowId: made.id } })
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1200 } })
    await enter(`${web.agents}/runs/${run.id}`)
    await page.getByRole('link', { name: 'Waits for a person: Send the letter?' }).click()
    const approval = page.getByRole('region', { name: 'Approval', exact: true })
    await approval.getByRole('button', { name: 'Link for one decision' }).click()
    const link = await page.getByRole('dialog').locator('output').innerText()
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'I have kept it' }).click()

    const guest = await web.visit({ viewport: { width: 390, height: 844 } })
    await guest.page.goto(link)
    await guest.page.getByRole('heading', { name: 'Send the letter?' }).waitFor()
    await guest.page.locator('pre').getByText('"to": "Ada"').waitFor()
    await guest.page.locator('dl').getByText('High').waitFor()
    await guest.page
      .locator('dl')
      .getByText(/UTC\. Then it counts as rejected\./)
      .waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await guest.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await guest.findings()).toEqual([])
    }
    await guest.page.getByLabel('Comment').fill('Fine with me')
    await guest.page.getByRole('button', { name: 'Approve', exact: true }).click()
    await guest.page.getByRole('heading', { name: 'Thank you' }).waitFor()
    await guest.page.goto(link)
    await guest.page.getByText('This code is unknown, used or expired: ask for a new link.').waitFor()
    expect(await guest.findings()).toEqual([])
    await page.reload()
    await approval.getByText('Approved', { exact: true }).first().waitFor()
    await approval.getByText('Fine with me').waitFor()
    expect([...(await violations()), ...(await guest.violations())]).toEqual([])
  }, 180_000)
})
