import type { Platform } from '../../network/network.ts'
import type { Form } from '../file/picture.ts'

const [jpeg, png, webp] = ['image/jpeg', 'image/png', 'image/webp'] as const
const megabyte = 1_000_000

const linkedin: Form = { types: [jpeg, png], bytes: 8 * megabyte, side: 4096 }

/** Picture formats that each network accepts, from the documentation of media named in each network's folder. */
export const formFor: Readonly<Record<Platform, Form>> = {
  X: { types: [jpeg, png, webp], bytes: 5 * megabyte, side: 4096 },
  LINKEDIN: linkedin,
  LINKEDIN_PAGE: linkedin,
  FACEBOOK: { types: [jpeg, png], bytes: 4 * megabyte, side: 2048 },
  // Aspect ratios from 4:5 to 1.91:1, 320 to 1440 pixels wide.
  INSTAGRAM: { types: [jpeg], bytes: 8 * megabyte, side: 1440, ratio: [0.8, 1.91] },
  THREADS: { types: [jpeg, png], bytes: 8 * megabyte, side: 1440, ratio: [0.1, 10] },
  // These networks publish only films; a picture is for viewing only.
  YOUTUBE: { types: [jpeg], bytes: 2 * megabyte, side: 1280 },
  TIKTOK: { types: [jpeg], bytes: 20 * megabyte, side: 1920 },
}
