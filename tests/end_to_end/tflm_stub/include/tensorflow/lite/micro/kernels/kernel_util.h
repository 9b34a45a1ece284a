#include "tflm_stub.h"
