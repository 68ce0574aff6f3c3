/** Every text of the console, in English. */

import { frame } from "./texts/frame.js";
import { people } from "./texts/people.js";
import { phones } from "./texts/phones.js";
import { switching } from "./texts/switching.js";

export const texts = { ...frame, ...phones, ...switching, ...people };
