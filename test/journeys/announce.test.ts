import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { signIn } from '../kit/client.ts'
import { isAsked, openWeb } from './visit.ts'

const createWorkflow = 'mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }'
const connectors = '{ connectors { id kind } }'

describe.runIf(isAsked && browserPath)('an announcement in a browser', () => {
  it('goes from a plan by a run and two edited approvals to a post that is out', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const owner = await signIn(web.url, 'owner@demo.test')
    const found = await owner.query<{ connectors: { id: string; kind: string }[] }>(connectors)
    const connectorId = found.connectors.find(({ kind }) => kind === 'PLATFORM')!.id
    const gate = (title: string) => ({ title, risk: 'HIGH', allowed: ['APPROVE', 'EDIT', 'REJECT'] })
    const tool = { kind: 'TOOL', connectorId }
    const steps = [
      {
        ...{ ...tool, key: 'write', title: 'Write the post', tool: 'create_post', gate: gate('Is this text right?') },
        arguments: { brandId: web.demo().brandId, platform: 'X', copy: 'We are open for ever' },
      },
      {
        ...{ ...tool, key: 'plan', title: 'Schedule it', tool: 'schedule_post', gate: gate('Is this time right?') },
        arguments: { id: '{{steps.write.output.id}}', scheduledAt: '2031-01-01T12:00:00Z' },
      },
    ]
    const { createWorkflow: made } = await owner.query<{ createWorkflow: { id: string } }>(createWorkflow, {
      input: { name: 'Announce opening hours', trigger: { kind: 'MANUAL' }, steps },
    })
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1200 } })
    const dialog = page.getByRole('dialog')
    const approval = page.getByRole('region', { name: 'Approval', exact: true })
    /** Answers what waits with other arguments. */
    const edit = async (question: string, change: (given: Record<string, unknown>) => Record<string, unknown>) => {
      await page.getByRole('link', { name: `Waits for a person: ${question}` }).click({ timeout: 60_000 })
      await approval.getByRole('button', { name: 'Edit and approve' }).click()
      const field = dialog.getByLabel('What will run')
      await field.fill(JSON.stringify(change(JSON.parse(await field.inputValue()))))
      await dialog.getByRole('button', { name: 'Edit and approve' }).click()
      await approval.getByText('Approved with changes').waitFor()
      await approval.getByRole('link', { name: 'Announce opening hours' }).click()
    }
    await enter(`${web.agents}/workflows/${made.id}`)
    await page.getByRole('button', { name: 'Publish plan' }).click()
    await dialog.getByRole('button', { name: 'Publish plan' }).click()
    await page.getByText('The draft is the plan in use.').waitFor()
    await page.getByRole('button', { name: 'Start run' }).click()
    await dialog.getByRole('button', { name: 'Start run' }).click()
    await edit('Is this text right?', given => ({ ...given, copy: 'We are open until nine' }))
    await edit('Is this time right?', given => ({ ...given, scheduledAt: new Date(Date.now() + 5000).toISOString() }))
    await page.locator('[data-step=plan]').getByText('Done', { exact: true }).waitFor()
    expect(await findings()).toEqual([])
    expect(await violations()).toEqual([])

    const reader = await web.visit()
    await reader.enter(`${web.publishing}/posts`, 'admin@demo.test')
    expect(await reader.page.getByText('We are open for ever').count()).toBe(0)
    await reader.page.getByRole('link', { name: 'We are open until nine' }).click()
    const post = reader.page.getByRole('region', { name: 'Post' })
    await post.getByText('Published', { exact: true }).first().waitFor({ timeout: 60_000 })
    expect(await reader.findings()).toEqual([])
    expect(await reader.violations()).toEqual([])
  }, 180_000)
})
